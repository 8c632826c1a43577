//go:build foretick_debug

package ecs

const debug = true
