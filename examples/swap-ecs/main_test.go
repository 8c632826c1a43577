package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBothEndsAgree(t *testing.T) {
	calm, err := fly(100, 8, 0)
	require.NoError(t, err)
	require.Equal(t, calm.Server, calm.Shown)
	require.Zero(t, calm.Wrong)
	gusty, err := fly(100, 8, 25)
	require.NoError(t, err)
	require.Equal(t, gusty.Server, gusty.Shown)
	require.Equal(t, 4, gusty.Wrong, "one correction a gust")
	require.Equal(t, 3*8, gusty.Replay, "the last gust comes when nothing is ahead of it")
	require.Equal(t, calm.Sounds, gusty.Sounds, "a replay makes no sound")
	require.NotEqual(t, calm.Server, gusty.Server)
}
