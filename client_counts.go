package foretick

import (
	"time"

	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

const (
	countsEvery = 10 * time.Second // the least time between two reports of counts
	countsRate  = 3                // bytes a second that they may take, the message's header included
)

// clientCounts tells the server how many corrections the client had, by cause. A report has all of
// the connection, so one that is lost costs nothing once the next one arrives.
type clientCounts struct {
	base  prediction.ByCause // when the connection began
	said  reason.Counts      // by the newest report
	again bool               // it was sent twice, since packets get lost
	next  time.Duration      // when one is due
}

// begin starts the counts of a connection.
func (c *clientCounts) begin(l *clientBase) {
	*c = clientCounts{base: l.stats.ByCause, again: true, next: l.now + countsEvery}
}

// write puts a report into the packet that is being built, if one is due and has news.
func (c *clientCounts) write(l *link, pk *netcode.Packet) {
	if l.now < c.next {
		return
	}
	var counts reason.Counts
	for i, n := range l.stats.ByCause {
		counts[i] = uint32(n - c.base[i])
	}
	same := counts == c.said
	if same && c.again {
		return
	}
	l.scratch = counts.Append(l.scratch[:0])
	if pk.Message(messageReport, l.scratch) {
		size := time.Duration(len(l.scratch) + 2)
		c.said, c.again, c.next = counts, same, l.now+max(countsEvery, size*time.Second/countsRate)
	}
}
