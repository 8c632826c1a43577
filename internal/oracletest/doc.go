// Package oracletest replays recorded matches, and compares every packet and every world with
// those of the recording. It shows that a change of the code's structure changes nothing that is
// computed or sent.
//
// Each match is stored twice. Its tape in testdata replays on the server alone. Its digests in
// testdata/digests.txt are compared with the replay, and with the same match played live from
// its seed. In the live match the clients play too, and their packets and screens are compared.
//
// Write the files again with
//
//	go test ./internal/oracletest -update
//
// only for a change that means to change what is computed or sent, and say so in the commit.
package oracletest
