// Package interop holds package dtls against another implementation of the same standards: the suites of RFC 7905 that
// github.com/pion/dtls/v3 has built in. It consists of tests. It is a module of its own, so that nobody who uses the
// library downloads that version; and one that builds by replace instead of go.work, so that the library's own tests are
// not built with the versions that it brings along:
//
//	cd transport/dtls/interop && GOWORK=off go test ./...
package interop
