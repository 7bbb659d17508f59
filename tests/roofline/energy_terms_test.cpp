// The formulas against each other: the arch form equals the direct sum, the power line peaks at the
// ridge, limits are reached, and a cap never makes anything faster, hotter or cheaper.
#include "roofline/ceilings/energy_terms.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/roofline/made_up_energy.h"

namespace ridgeline::testing {
namespace {

// 100 GFLOP/s, 10 GB/s, 20 pJ/FLOP, 400 pJ/B, 3 W: every derived number is round.
const EnergyTerms simple{100e9, 10e9, 20e-12, 400e-12, 3, {}};

TEST(EnergyTerms, RoundNumbers) {
  EXPECT_DOUBLE_EQ(time_balance(simple), 10);
  EXPECT_DOUBLE_EQ(*energy_balance(simple), 20);
  EXPECT_DOUBLE_EQ(peak_power_w(simple), 2 + 4 + 3);
  EXPECT_DOUBLE_EQ(limit_flop_per_joule(simple), 1 / 50e-12);
  EXPECT_DOUBLE_EQ(*race_to_halt_ratio(simple), 5.0 / 4);
  // ε_m/(ε_f + π₀/F) = 8 at the ridge; efficiency is half where 8 + 0.6·(10 − I) = I.
  EXPECT_DOUBLE_EQ(effective_balance(simple, 10), 8);
  EXPECT_DOUBLE_EQ(half_efficiency_balance(simple), 8.75);
  EXPECT_DOUBLE_EQ(energy_per_flop_j(simple, 8.75), 2 * 50e-12);
  EXPECT_FALSE(capped_range(simple));
}

TEST(EnergyTerms, FreeArithmeticAndFreeBytes) {
  EnergyTerms terms = simple;
  terms.joule_per_flop = 0;
  EXPECT_FALSE(energy_balance(terms));
  EXPECT_DOUBLE_EQ(effective_balance(terms, 10), 400e-12 / 30e-12);
  terms.joule_per_byte = 0;
  EXPECT_FALSE(race_to_halt_ratio(terms));
  EXPECT_DOUBLE_EQ(energy_per_flop_j(terms, 100), 30e-12);
}

TEST(EnergyTerms, CapRange) {
  EnergyTerms terms = simple;
  terms.cap_w = 8;  // leaves 5 W for arithmetic and traffic, which take 6 W at the ridge
  ASSERT_TRUE(capped_range(terms));
  EXPECT_DOUBLE_EQ(capped_range(terms)->low, 5);
  EXPECT_DOUBLE_EQ(capped_range(terms)->high, 40.0 / 3);
  EXPECT_DOUBLE_EQ(power_w(terms, 10), 8);
  EXPECT_DOUBLE_EQ(1 / time_per_flop_s(terms, 10), 5 / 60e-12);
  terms.cap_w = 4.5;  // below the power of either alone
  EXPECT_DOUBLE_EQ(capped_range(terms)->low, 0);
  EXPECT_TRUE(std::isinf(capped_range(terms)->high));
  EXPECT_DOUBLE_EQ(limit_flop_per_joule(terms), 1 / (20e-12 + 3 * 20e-12 / 1.5));
}

RC_GTEST_PROP(EnergyTermsProperty, ArchFormEqualsDirectForm, ()) {
  const EnergyTerms terms = *made_up_terms();
  const double intensity = *made_up_intensity(terms);
  const double full = terms.joule_per_flop + terms.constant_power_w / terms.flops_per_s;
  const double direct =
      terms.joule_per_flop + terms.joule_per_byte / intensity +
      terms.constant_power_w * std::max(1 / terms.flops_per_s, 1 / (terms.bytes_per_s * intensity));
  const double arch = full * (1 + effective_balance(terms, intensity) / intensity);
  RC_ASSERT(nearly_equal(energy_per_flop_j(terms, intensity), direct));
  RC_ASSERT(nearly_equal(arch, direct));
}

// The power line as published: (π_f/η)·[min(I, β_τ)/β_τ + B̂(I)/max(I, β_τ)].
RC_GTEST_PROP(EnergyTermsProperty, PowerLineIsThePublishedFormAndPeaksAtTheRidge, ()) {
  const EnergyTerms terms = *made_up_terms();
  const double intensity = *made_up_intensity(terms);
  const double ridge = time_balance(terms);
  const double full = terms.joule_per_flop + terms.constant_power_w / terms.flops_per_s;
  const double published = full * terms.flops_per_s *
                           (std::min(intensity, ridge) / ridge +
                            effective_balance(terms, intensity) / std::max(intensity, ridge));
  RC_ASSERT(nearly_equal(power_w(terms, intensity), published));
  RC_ASSERT(nearly_equal(power_w(terms, ridge), peak_power_w(terms)));
  RC_ASSERT(power_w(terms, intensity) <= peak_power_w(terms) * (1 + 1e-12));
}

RC_GTEST_PROP(EnergyTermsProperty, Limits, ()) {
  const EnergyTerms terms = *made_up_terms();
  constexpr double tiny = 1e-15, huge = 1e15;
  RC_ASSERT(nearly_equal(energy_per_flop_j(terms, tiny) * tiny,
                         terms.joule_per_byte + terms.constant_power_w / terms.bytes_per_s, 1e-6));
  RC_ASSERT(nearly_equal(power_w(terms, tiny),
                         terms.constant_power_w + terms.joule_per_byte * terms.bytes_per_s, 1e-6));
  RC_ASSERT(nearly_equal(1 / energy_per_flop_j(terms, huge), limit_flop_per_joule(terms), 1e-6));
  RC_ASSERT(nearly_equal(power_w(terms, huge),
                         terms.constant_power_w + terms.joule_per_flop * terms.flops_per_s, 1e-6));
}

RC_GTEST_PROP(EnergyTermsProperty, EfficiencyIsHalfWhereTheEffectiveBalanceIsTheIntensity, ()) {
  const EnergyTerms terms = *made_up_terms();
  const double half = half_efficiency_balance(terms);
  RC_ASSERT(nearly_equal(effective_balance(terms, half), half));
  RC_ASSERT(nearly_equal(1 / energy_per_flop_j(terms, half), limit_flop_per_joule(terms) / 2));
}

// The ratio of powers agrees with the balance points.
RC_GTEST_PROP(EnergyTermsProperty, RaceToHaltIsABalanceLeftOfTheRidge, ()) {
  const EnergyTerms terms = *made_up_terms();
  const double ratio = *race_to_halt_ratio(terms);
  RC_PRE(std::abs(ratio - 1) > 1e-9);
  RC_ASSERT((ratio > 1) == (half_efficiency_balance(terms) < time_balance(terms)));
}

RC_GTEST_PROP(EnergyTermsProperty, ACapNeverHelps, ()) {
  const EnergyTerms free = *made_up_terms();
  EnergyTerms capped = free;
  const double share = *rc::gen::inRange(1, 150) / 100.0;
  capped.cap_w = free.constant_power_w + share * (peak_power_w(free) - free.constant_power_w);
  const double intensity = *made_up_intensity(free);
  RC_ASSERT(time_per_flop_s(capped, intensity) >= time_per_flop_s(free, intensity));
  RC_ASSERT(energy_per_flop_j(capped, intensity) >= energy_per_flop_j(free, intensity));
  RC_ASSERT(power_w(capped, intensity) <= power_w(free, intensity) * (1 + 1e-12));
  RC_ASSERT(power_w(capped, intensity) <= *capped.cap_w * (1 + 1e-12));
  RC_ASSERT(limit_flop_per_joule(capped) <= limit_flop_per_joule(free) * (1 + 1e-12));
  RC_ASSERT(nearly_equal(1 / energy_per_flop_j(capped, half_efficiency_balance(capped)),
                         limit_flop_per_joule(capped) / 2));
  const auto range = capped_range(capped);
  RC_ASSERT(range.has_value() == (share < 1));
  if (!range) return;
  const bool inside = intensity > range->low * (1 + 1e-9) && intensity < range->high * (1 - 1e-9);
  const bool outside = intensity < range->low * (1 - 1e-9) || intensity > range->high * (1 + 1e-9);
  if (inside) RC_ASSERT(nearly_equal(power_w(capped, intensity), *capped.cap_w));
  if (outside) RC_ASSERT(time_per_flop_s(capped, intensity) == time_per_flop_s(free, intensity));
}

}  // namespace
}  // namespace ridgeline::testing
