// Package remotetest tests PredictRemote: it plays matches and compares the entities of other
// players on each client with those of the server.
package remotetest
