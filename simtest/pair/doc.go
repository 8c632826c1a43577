// Package pair plays a game over UDP, with the server in one process and its clients in
// another. The two may be on machines of different architectures. A client that predicts
// must get the server's results to the last bit, and [simtest.SyncTest] only tests one
// machine.
//
// A game's test is one line, with the function that [simtest.Check] takes:
//
//	func TestPair(t *testing.T) { pair.Test(t, newPlayer) }
//
// Without flags the test plays both ends in the test's own process for a second. With flags the
// same test is one end. Build it twice, and run each where its machine is:
//
//	GOARCH=amd64 go test -c -o server.test . && ./server.test -test.run TestPair -pair.serve :7777
//	GOARCH=arm64 go test -c -o client.test . && ./client.test -test.run TestPair -pair.join 192.0.2.7:7777
//
// -pair.seconds sets the length of this end's play, and -pair.clients the number of clients. The
// server may play longer than its clients. The clients' end prints its figures. The test
// fails if nothing was predicted, or if a misprediction has [prediction.Code] as its cause.
//
// [Serve] and [Join] are the two ends for programs.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package pair
