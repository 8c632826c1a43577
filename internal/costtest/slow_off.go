//go:build !race && !js

package costtest

const slower = 1
