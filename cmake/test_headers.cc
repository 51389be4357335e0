// Owns the precompiled header of all tests; see RingwardModule.cmake.
