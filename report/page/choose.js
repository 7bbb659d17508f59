// Chooses a mode as `ridgeline plan` does: the rows are those that some limits make the choice, each
// with the pairs of limits that it keeps with the required probability ("kept": latency, power, ...).

const TIE_WIDTH = 1e-6; // of the logarithm of a score, as in planner/choice.cpp
const SAME_ENERGY = 0.01;
const SAME_TIME = 0.005;

// The rows of a plan as objects; in the data their field names stand once.
function rowsOf(plan) {
  plan.objects ??= plan.rows.map((row) => Object.fromEntries(plan.row_fields.map((field, i) => [field, row[i]])));
  return plan.objects;
}

function scoreOf(row, goal) {
  if (goal === "time") return row.goal_s;
  if (goal === "power") return row.power_w;
  if (goal === "edp") return row.energy_j * row.latency_s;
  return row.energy_j;
}

// Whether the row keeps both limits at the means and with the required probability; null: no limit.
function keepsLimits(row, latency, power) {
  if (row.latency_s === null) return false;
  if (latency !== null && !(row.latency_s <= latency)) return false;
  if (power !== null && !(row.power_w <= power)) return false;
  if (latency === null && power === null) return row.kept.length > 0;
  for (let i = 0; i < row.kept.length; i += 2) {
    const inTime = latency === null || row.kept[i] <= latency;
    const inPower = power === null || row.kept[i + 1] <= power;
    if (inTime && inPower) return true;
  }
  return false;
}

// limits: {latency, power, stock}. Returns the index of a row, or -1 where no row keeps them.
function chooseRow(rows, goal, limits) {
  const able = [];
  rows.forEach((row, i) => {
    const score = scoreOf(row, goal);
    if (!(score > 0) || (limits.stock && !row.stock)) return;
    if (keepsLimits(row, limits.latency, limits.power)) {
      able.push({ i, row, score, tie: Math.round(Math.log(score) / TIE_WIDTH) });
    }
  });
  if (able.length === 0) return -1;
  let best = able[0];
  for (const one of able) if (one.tie < best.tie) best = one;
  if (goal !== "energy") return best.i;
  // Of modes that take practically the same energy, the fastest.
  const fast = able
    .filter((one) => one.row.variant === best.row.variant &&
      one.score <= best.score * (1 + SAME_ENERGY) &&
      one.row.goal_s < best.row.goal_s * (1 - SAME_TIME))
    .sort((a, b) => a.row.goal_s - b.row.goal_s);
  let found = null;
  let foundTime = 0;
  for (const one of fast) {
    if (found && one.row.goal_s > foundTime * (1 + SAME_TIME)) break;
    if (found && one.score >= found.score) continue;
    if (!found) foundTime = one.row.goal_s;
    found = one;
  }
  return (found || best).i;
}

// The answer of `plan`: a stock mode if one keeps the limits, unless any clocks are asked for.
function planChoice(rows, goal, limits) {
  if (limits.stock) {
    const stock = chooseRow(rows, goal, limits);
    if (stock >= 0) return stock;
  }
  return chooseRow(rows, goal, { latency: limits.latency, power: limits.power, stock: false });
}
