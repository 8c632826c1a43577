package netcode

// share divides the room of one packet between the channels with something to
// send. Each channel has a credit: its share, by priority, of the bytes sent
// while it waited, minus the bytes that it sent itself. This is deficit round
// robin (Shreedhar and Varghese 1995) with a credit that may be negative. When
// one channel gains, the others pay. So a channel that gets too little rises
// until it is served, and none starves.
type share struct {
	channels []channel
	waiting  [MaxChannels]bool
	spent    [MaxChannels]int // spent has the bytes that each channel used of this packet.
	sum      int              // sum is the sum of the priorities of all channels that waited at first.
	count    int              // count is how many channels still wait.
	room     int              // room is the number of bytes to divide.
}

const (
	creditUnit = 1024 // units a byte: even the lowest priority gets a part
	// maxDebt is the most that a channel pays for using what others left.
	maxDebt = 2 * maxFragment * creditUnit
	// minTurn is what a channel may always write in one turn: any one entry.
	minTurn = 1 + 2 + maxEntryHead + maxFragment
)

// owing reports whether any channel has something to send. A channel that has
// nothing loses its credit.
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

// rank returns a channel's credit as if the room of this packet had been divided by priority.
func (s *share) rank(i int) int64 {
	ch := &s.channels[i]
	return ch.credit + creditUnit*int64(s.room)*int64(ch.priority)/int64(s.sum) - creditUnit*int64(s.spent[i])
}

// nextChannel returns the channel whose turn it is, and how many bytes it may write.
// On a tie the higher priority goes first, then the lower number.
func (s *share) nextChannel() (i, turn int) {
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

// took records that a channel wrote n bytes.
func (s *share) took(i, n int) {
	s.spent[i] += n
	if s.channels[i].owed(1) == 0 {
		s.waiting[i] = false
		s.count--
	}
}

// settleCredit converts the bytes sent into credit, at the end of a packet.
func (s *share) settleCredit() {
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
		if s.sum == ch.priority { // no other channel waits: the bytes only lower a positive credit
			ch.credit = min(ch.credit, max(0, ch.credit-creditUnit*total))
			continue
		}
		ch.credit += creditUnit*total*int64(ch.priority)/int64(s.sum) - creditUnit*int64(s.spent[i])
		ch.credit = max(-maxDebt, ch.credit)
	}
}
