package screentest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/require"
)

// The client is small enough to download, and a client that asks for no JSON and no log links
// neither.
func TestSizeOfTheClient(t *testing.T) {
	answer, err := http.Get(arena(t, "-clients", "1").URL + "client.wasm")
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(t, "application/wasm", answer.Header.Get("Content-Type"))
	wasm, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	zipped, brotlied, done := new(bytes.Buffer), new(bytes.Buffer), make(chan error)
	go func() { // it takes long, so it begins before its turn comes
		z, err := gzip.NewWriterLevel(zipped, gzip.BestCompression)
		b := brotli.NewWriterLevel(brotlied, brotli.BestCompression-1) // half as long as the best, for 2 % more
		for _, w := range []io.WriteCloser{z, b} {
			_, e := w.Write(wasm)
			err = errors.Join(err, e, w.Close())
		}
		done <- err
	}()
	t.Parallel()
	require.NoError(t, <-done)
	const mega = 1 << 20
	t.Logf("%.2f MiB, %.3f with gzip, %.3f with brotli's level 10", float64(len(wasm))/mega, float64(zipped.Len())/mega, float64(brotlied.Len())/mega)
	require.LessOrEqual(t, float64(zipped.Len()), 2.11*mega) // 2.0 is meant: the clock of slow servers and reports of unread snapshots took 9 kB, records in pieces and rules for causes 17, masks of more than 64 components 8, rules for what is hidden and for references on their way 6, long silences, last words and counts of corrections 7, methods whose names have their object and what a frame does without 8, names of generic types that both ends run 5, slides over changes of owner, withdrawn fields, bridged losses and sums that carry over 14
	require.LessOrEqual(t, float64(brotlied.Len()), 1.56*mega)
	for _, name := range []string{"encoding/json.Marshal", "encoding/json.(*Decoder)", "encoding/json.(*decodeState)", "log/slog.(*Logger)", "log/slog.NewRecord", "math/big.(", "math/big.nat"} {
		require.False(t, bytes.Contains(wasm, []byte(name)), name)
	}
	require.True(t, bytes.Contains(wasm, []byte("client.(*Client).Step")), "names are in the program")
}
