package alarm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/alarm"
)

// TestAlarm: an error that a client logs is reported in full, and nothing else is.
func TestAlarm(t *testing.T) {
	var told []string
	l := alarm.Logger(func(err error) { told = append(told, err.Error()) })
	l.Info("joined")
	l.Error("panic while reading a packet", "packet", "00ff", "value", "index out of range")
	require.Equal(t, []string{"panic while reading a packet\npacket: 00ff\nvalue: index out of range"}, told)
}
