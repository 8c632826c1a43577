//go:build race || wasm

package lagcomp_test

// measuring says that ratios of time mean something: the race detector and the
// browser's machine change every one of them.
const measuring = false
