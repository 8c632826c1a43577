// Package stats has the counters of servers, players and clients: what
// server.Server.Stats, server.Server.Player and client.Client.Stats return, and what Losses and
// Traffic of the ends return. All are plain values, and their String methods make
// lines for a log. Package figures has the figures for monitoring.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package stats
