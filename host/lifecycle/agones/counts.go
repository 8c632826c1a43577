package agones

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/foretick/foretick/host/lifecycle"
)

// longestList is the most values that Agones lets a list hold.
const longestList = 1000

// tally is a number that Agones keeps, as a counter or as a list, if the fleet declares one.
type tally struct {
	name          string
	counter, list bool
	known         bool // the values below are those that Agones has accepted
	count, most   int
	values        []string
}

// declared notes which counters and lists the fleet has.
func (m *Manager) declared(gs *gameServer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range []*tally{m.rooms, m.players} {
		_, counter := gs.Status.Counters[t.name]
		_, list := gs.Status.Lists[t.name]
		if counter != t.counter || list != t.list {
			t.counter, t.list, t.known = counter, list, false
		}
	}
}

// Counts implements lifecycle.Lifecycle. It sends what has changed since Agones took it.
func (m *Manager) Counts(ctx context.Context, c lifecycle.Counts) error {
	m.mu.Lock()
	rooms, players := *m.rooms, *m.players
	m.mu.Unlock()
	return errors.Join(
		m.sendTally(ctx, m.rooms, rooms, c.Matches, c.FreeMatches, c.MatchNames),
		m.sendTally(ctx, m.players, players, c.Players, c.FreePlayers, c.PlayerNames))
}

// sendTally sends one tally, if it changed. was is a copy of it.
func (m *Manager) sendTally(ctx context.Context, t *tally, was tally, count, free int, names func() []string) error {
	now := was
	now.count, now.most = count, -1
	if free >= 0 {
		now.most = count + free
	}
	if was.counter {
		if !was.known || was.count != now.count || was.most != now.most {
			if err := m.sendCounter(ctx, &now); err != nil {
				return m.undeclared(t, err, func() { t.counter = false })
			}
		}
	}
	if was.list && names != nil {
		now.values = listed(names())
		if now.most >= 0 {
			now.most = min(now.most, longestList)
		}
		if !was.known || was.most != now.most || !slices.Equal(was.values, now.values) {
			if err := m.sendList(ctx, &now); err != nil {
				return m.undeclared(t, err, func() { t.list = false })
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.counter == now.counter && t.list == now.list {
		now.known = true
		*t = now
	}
	return nil
}

// listed returns the names as a list takes them: text, each once, and not too many.
func listed(names []string) []string {
	for i, n := range names {
		names[i] = strings.ToValidUTF8(n, "?")
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), longestList)]
}

// undeclared gives a counter or list up that Agones does not know, and returns other errors.
func (m *Manager) undeclared(t *tally, err error, drop func()) error {
	var refused *callError
	if !errors.As(err, &refused) || refused.Status != http.StatusNotFound && !strings.Contains(refused.Text, "not found") && !strings.Contains(refused.Text, "not enabled") {
		return err
	}
	m.log.Warn("agones does not know a counter or list: declare it in the fleet", "name", t.name, "err", err)
	m.mu.Lock()
	defer m.mu.Unlock()
	drop()
	return nil
}

// sendCounter sets a counter. Without a limit the capacity stays, and the count is cut to it.
func (m *Manager) sendCounter(ctx context.Context, t *tally) error {
	path := "/v1beta1/counters/" + url.PathEscape(t.name)
	body := map[string]string{"count": strconv.Itoa(t.count)}
	if t.most >= 0 {
		body["capacity"] = strconv.Itoa(t.most)
	} else {
		var is struct{ Capacity number }
		if err := m.call(ctx, http.MethodGet, path, nil, &is); err != nil {
			return err
		}
		body["count"] = strconv.FormatInt(min(int64(t.count), int64(is.Capacity)), 10)
	}
	return m.call(ctx, http.MethodPatch, path, body, nil)
}

// sendList sets a list. Without a limit the capacity stays.
func (m *Manager) sendList(ctx context.Context, t *tally) error {
	body := map[string]any{"values": append([]string{}, t.values...)}
	if t.most >= 0 {
		body["capacity"] = strconv.Itoa(max(t.most, len(t.values)))
	}
	return m.call(ctx, http.MethodPatch, "/v1beta1/lists/"+url.PathEscape(t.name), body, nil)
}
