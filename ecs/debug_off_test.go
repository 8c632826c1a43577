//go:build !foretick_debug

package ecs_test

// parallelBuild: debug builds run systems one after another.
const parallelBuild = true
