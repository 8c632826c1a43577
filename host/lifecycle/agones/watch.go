package agones

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/foretick/foretick/host/lifecycle"
)

// gameServer is what the SDK server sends of a game server. It ignores what it does not need.
type gameServer struct {
	Meta struct {
		Name        string            `json:"name"`
		Deleted     number            `json:"deletion_timestamp"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"object_meta"`
	Status struct {
		State   string `json:"state"`
		Address string `json:"address"`
		Ports   []struct {
			Name string `json:"name"`
			Port int    `json:"port"`
		} `json:"ports"`
		Counters map[string]struct{} `json:"counters"`
		Lists    map[string]struct{} `json:"lists"`
	} `json:"status"`
}

// number is an int64, which is sent as a string.
type number int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(b []byte) error {
	text := string(bytes.Trim(b, `"`))
	if text == "null" || text == "" {
		return nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	*n = number(v)
	return err
}

// state returns the data of a game server that a host needs.
func (g *gameServer) state() lifecycle.State {
	s := lifecycle.State{Name: g.Meta.Name, Phase: g.Status.State, Address: g.Status.Address, Labels: g.Meta.Labels, Annotations: g.Meta.Annotations}
	switch g.Status.State {
	case "Allocated":
		s.Allocated = true
	case "Shutdown", "Unhealthy", "Error":
		s.Ending = true
	}
	if g.Meta.Deleted > 0 {
		s.Ending = true
	}
	for _, p := range g.Status.Ports {
		if s.Ports == nil {
			s.Ports = map[string]int{}
		}
		s.Ports[p.Name] = p.Port
	}
	return s
}

var errNoState = errors.New("agones: the watch brought no state in time")

// Watch implements lifecycle.Lifecycle. Each state is a line of JSON.
func (m *Manager) Watch(ctx context.Context, change func(lifecycle.State)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(m.first, func() { cancel(errNoState) })
	defer late.Stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.base+"/watch/gameserver", nil)
	if err != nil {
		return fmt.Errorf("agones: %w", err)
	}
	why := func(err error) error {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return fmt.Errorf("agones: watch: %w", err)
	}
	resp, err := m.client.Do(r)
	if err != nil {
		return why(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, longestError))
		return &callError{Method: r.Method, Path: r.URL.Path, Status: resp.StatusCode, Text: message(b)}
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, longestAnswer)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		gs, err := parseLine(lines.Bytes())
		if err != nil {
			return err
		}
		late.Stop()
		m.declared(gs)
		change(gs.state())
	}
	if err := lines.Err(); err != nil {
		return why(err)
	}
	return why(io.EOF)
}

// parseLine reads a line of the watch.
func parseLine(b []byte) (*gameServer, error) {
	var line struct {
		Result *gameServer
		Error  *struct{ Message string }
	}
	switch err := json.Unmarshal(b, &line); {
	case err != nil:
		return nil, fmt.Errorf("agones: a line of the watch is not what Agones sends: %w", err)
	case line.Error != nil:
		return nil, fmt.Errorf("agones: the watch ended: %s", line.Error.Message[:min(len(line.Error.Message), longestError)])
	case line.Result == nil:
		return nil, errors.New("agones: a line of the watch has no result")
	}
	return line.Result, nil
}
