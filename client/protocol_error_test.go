package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
)

// The error of a client of another build names the parts that each end lacks, and the remedy.
func TestProtocolErrorSaysWhoLacksWhat(t *testing.T) {
	for want, e := range map[string]client.ProtocolError{
		`the server has "Throat.Seed uint8", which this build lacks: build both from the same source.`: {TheirLine: "Throat.Seed uint8"},
		`this build has "Throat.Seed uint8", which the server lacks: build both from the same source.`: {OurLine: "Throat.Seed uint8"},
		`the first difference is "version 2" here and "version 1" on the server: build both`:           {OurLine: "version 2", TheirLine: "version 1"},
		`the server speaks another protocol (ours 0000000000000001, theirs 0000000000000002)`:          {Ours: 1, Theirs: 2},
	} {
		require.ErrorContains(t, &e, want)
	}
}
