// Package nettest holds what the tests of the transports over real sockets share: waiting for events, floods, and the
// measurements that reliability asks of each of them alike. Nothing but tests imports it.
package nettest
