// Package remotetest plays matches in which clients predict what others own, with
// PredictRemote, and compares each end with what the server did.
package remotetest
