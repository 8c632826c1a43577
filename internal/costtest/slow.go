//go:build race || js

package costtest

const slower = 10 // code runs under the race detector, or in WebAssembly by a clock that counts what others do
