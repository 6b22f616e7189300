"""Measuring: questions with known answers here, then metrics, intervals and comparisons of systems."""

from cookbook.eval.sets import EvalRow, EvalSample, GoldQuote, eval_set_names, load_eval_file, load_eval_set

__all__ = ["EvalRow", "EvalSample", "GoldQuote", "eval_set_names", "load_eval_file", "load_eval_set"]
