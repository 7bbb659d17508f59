// FigureStack → text for a terminal: low plots one below the other, their frames aligned.
// Fits the width it is given; empty where the terminal is too narrow for one plot.
#pragma once

#include <string>

#include "plots/renderers/terminal.h"
#include "plots/stack.h"

namespace ridgeline {

std::string terminal_plot(const FigureStack& stack, const TerminalStyle& style);

}  // namespace ridgeline
