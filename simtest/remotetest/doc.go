// Package remotetest tests PredictRemote: it plays matches and compares the entities of other
// players on each client with those of the server.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package remotetest
