package netcode

// share divides the room of one packet between the channels that have something
// to send. Each channel has a credit: what it was entitled to, by its priority,
// of the bytes sent while it waited, less what it sent itself (deficit round
// robin, Shreedhar and Varghese 1995, with a credit that may be negative). What
// one gains the others pay, so a channel that goes short rises until it is
// served: nothing starves.
type share struct {
	channels []channel
	waiting  [MaxChannels]bool
	spent    [MaxChannels]int // bytes of this packet
	sum      int              // of the priorities of those waiting at first
	count    int              // still waiting
	room     int              // at first
}

const (
	creditUnit = 1024 // of a byte: even the lowest of priorities gets a part
	// maxDebt is what a channel that used what others left pays for at most.
	maxDebt = 2 * maxFragment * creditUnit
	// minTurn is what a channel may write in a row: any one entry.
	minTurn = 1 + 2 + maxEntryHead + maxFragment
)

// owing tells whether any channel has something to send. If none has, none is
// entitled to anything.
func owing(channels []channel) (any bool) {
	for i := range channels {
		if channels[i].owed(1) > 0 {
			any = true
		} else {
			channels[i].credit = 0
		}
	}
	return any
}

func newShare(channels []channel, room int) share {
	s := share{channels: channels, room: room}
	for i := range channels {
		if ch := &channels[i]; ch.owed(1) > 0 {
			s.waiting[i] = true
			s.sum += ch.priority
			s.count++
		}
	}
	return s
}

// rank is a channel's credit as if this packet's room had been dealt out.
func (s *share) rank(i int) int64 {
	ch := &s.channels[i]
	return ch.credit + creditUnit*int64(s.room)*int64(ch.priority)/int64(s.sum) - creditUnit*int64(s.spent[i])
}

// next is the channel whose turn it is, and how many bytes it may write.
// Of equals the one of higher priority goes first, then the one of lower number.
func (s *share) next() (i, turn int) {
	i = -1
	for k := range s.channels {
		if !s.waiting[k] {
			continue
		}
		if i < 0 || s.rank(k) > s.rank(i) || s.rank(k) == s.rank(i) && s.channels[k].priority > s.channels[i].priority {
			i = k
		}
	}
	if s.count == 1 {
		return i, s.room
	}
	return i, max(minTurn, int(s.rank(i)/creditUnit))
}

// took notes that a channel wrote n bytes.
func (s *share) took(i, n int) {
	s.spent[i] += n
	if s.channels[i].owed(1) == 0 {
		s.waiting[i] = false
		s.count--
	}
}

// settle turns what was sent into credit, once no more is.
func (s *share) settle() {
	total := int64(0)
	for _, n := range s.spent {
		total += int64(n)
	}
	for i := range s.channels {
		ch := &s.channels[i]
		if !s.waiting[i] {
			ch.credit = 0
			continue
		}
		if s.sum == ch.priority { // alone: what it sends makes up for having waited
			ch.credit = min(ch.credit, max(0, ch.credit-creditUnit*total))
			continue
		}
		ch.credit += creditUnit*total*int64(ch.priority)/int64(s.sum) - creditUnit*int64(s.spent[i])
		ch.credit = max(-maxDebt, ch.credit)
	}
}
