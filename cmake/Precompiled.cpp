// Carries the precompiled header; holds no code.
