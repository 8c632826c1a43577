package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/snapshot"
)

// A forged snapshot makes the next ones unreadable for a round trip, which is not reported. Five
// unreadable snapshots within two seconds are reported, and so is one more because of an entity
// that was reported before.
func TestUnreadIsReportedWhenSeveralFollow(t *testing.T) {
	bad := fmt.Errorf("a record: %w", snapshot.ErrMalformed)
	var u unread
	r := &snapshot.Receiver{}
	for i := range 4 {
		u.noteRead(r, bad, time.Duration(i)*100*time.Millisecond)
		require.False(t, u.due)
	}
	u.noteRead(r, bad, 400*time.Millisecond)
	require.True(t, u.due)
	u.noteRead(r, nil, 500*time.Millisecond)
	require.False(t, u.due, "one was read")

	u = unread{}
	for i := range 20 { // an unreadable snapshot now and then
		u.noteRead(r, bad, time.Duration(i)*700*time.Millisecond)
		require.False(t, u.due)
	}
}
