// Package nettest holds shared test helpers of the socket transports: waiting for events, floods,
// and the reliability measurements that apply to each of them. Only tests import it.
package nettest
