"""Training data made by program, and the small models trained on it: a critic that judges in milliseconds."""
