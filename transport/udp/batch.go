package udp

import (
	"net"
	"time"
)

// mostBatch bounds Config.Batch.
const mostBatch = 1024

// batchCounters counts what system calls that send several datagrams did.
type batchCounters struct {
	calls, backlog, errors uint64
}

// gatherTime is how long the reader pauses after it has emptied the socket: see Config.Batch.
const gatherTime = time.Millisecond

// batches reports whether system calls carry several datagrams.
func (e *Endpoint) batches() bool { return canBatch && e.cfg.Batch > 1 }

// listenTo reads a server's socket until it is closed.
func (e *Endpoint) listenTo(c *net.UDPConn) {
	raw, err := c.SyscallConn()
	if err != nil || !e.batches() {
		e.readSocket(c, e.serveDatagram)
		return
	}
	for failed := 1; ; failed++ {
		if e.failedRead(e.readMany(raw, e.serveDatagram), failed) {
			return
		}
	}
}
