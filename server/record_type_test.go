package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/local"
)

// Record refuses a value that no tape can hold without a recorder too, and costs no allocation then.
func TestRecordRefusesWithoutRecorder(t *testing.T) {
	srv, err := server.New(server.Config{Protocol: foretick.NewProtocol("record", 1), Transport: local.New(nil)})
	require.NoError(t, err)
	defer srv.Close("")
	seed, now, drops := uint64(7), [2]int64{time.Hour.Milliseconds()}, map[string]int{"apple": 2}
	for _, wrong := range []any{&drops, drops, seed, (*uint64)(nil), nil, &[]string{"apple"}} {
		func() {
			defer func() {
				_, misuse := recover().(foretick.UsageError)
				require.True(t, misuse, "%T", wrong)
			}()
			srv.Record(wrong)
		}()
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { srv.Record(&seed); srv.Record(&now) }))
	require.Equal(t, [2]uint64{7, uint64(time.Hour.Milliseconds())}, [2]uint64{seed, uint64(now[0])})
}
