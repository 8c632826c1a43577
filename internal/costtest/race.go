//go:build race

package costtest

const slower = 10 // code runs under the race detector
