package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/foretick/foretick/host/lifecycle"
)

// matchNote is the annotation in which an allocation gives the host the name of its match.
const matchNote = "foretick.example/match"

// The names of the host's ports in fleet/fleet.yaml.
const (
	gamePort = "game"
	webPort  = "web"
)

// fleet allocates hosts from an Agones fleet through the API of Kubernetes.
type fleet struct {
	name   string
	url    string                 // the URL of the namespace's allocations
	token  func() (string, error) // returns the pod's current token
	client *http.Client
}

// account is the directory in which a pod finds its token and certificates.
const account = "/var/run/secrets/kubernetes.io/serviceaccount/"

// newFleet returns the fleet, for a matchmaker that runs in the cluster.
func newFleet(o options) (*fleet, error) {
	space, err := os.ReadFile(account + "namespace")
	if err != nil {
		return nil, fmt.Errorf("-fleet works in a pod with a service account: %w", err)
	}
	roots, err := os.ReadFile(account + "ca.crt")
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(roots)
	return &fleet{
		name: o.fleet,
		url:  "https://kubernetes.default.svc/apis/allocation.agones.dev/v1/namespaces/" + string(bytes.TrimSpace(space)) + "/gameserverallocations",
		token: func() (string, error) { // read each time, since Kubernetes renews it
			b, err := os.ReadFile(account + "token")
			return string(bytes.TrimSpace(b)), err
		},
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}},
	}, nil
}

// object is a JSON object.
type object = map[string]any

// allocation returns the request for a host that can take one more match. fleet/allocation.yaml is
// the same request.
func (f *fleet) allocation(match string) object {
	selector := func(state string) object {
		return object{
			"gameServerState":  state,
			"matchLabels":      object{"agones.dev/fleet": f.name},
			"matchExpressions": []object{{"key": "agones.dev/sdk-draining", "operator": "DoesNotExist"}},
			"counters":         object{"rooms": object{"minAvailable": 1}},
		}
	}
	return object{
		"apiVersion": "allocation.agones.dev/v1",
		"kind":       "GameServerAllocation",
		"spec": object{
			"scheduling": "Packed",
			"selectors":  []object{selector("Allocated"), selector("Ready")}, // first hosts that have matches already
			"priorities": []object{{"type": "Counter", "key": "rooms", "order": "Ascending"}},
			"metadata":   object{"annotations": object{matchNote: match}},
		},
	}
}

// allocate finds a host for a match, and returns where it runs.
func (f *fleet) allocate(ctx context.Context, match string) (gameServer, error) {
	body, err := json.Marshal(f.allocation(match))
	if err != nil {
		return gameServer{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(body))
	if err != nil {
		return gameServer{}, err
	}
	token, err := f.token()
	if err != nil {
		return gameServer{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := f.client.Do(r)
	if err != nil {
		return gameServer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return gameServer{}, err
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
		return gameServer{}, fmt.Errorf("the cluster refuses the allocation: %s: %s", resp.Status, b[:min(len(b), 200)])
	}
	var reply struct {
		Status struct {
			State, Address string
			Ports          []struct {
				Name string
				Port int
			}
		}
	}
	if err := json.Unmarshal(b, &reply); err != nil {
		return gameServer{}, err
	}
	if reply.Status.State != "Allocated" { // UnAllocated: all are full; Contention: ask again
		return gameServer{}, errNoServer
	}
	ports := map[string]int{}
	for _, p := range reply.Status.Ports {
		ports[p.Name] = p.Port
	}
	return reach(ctx, reply.Status.Address, ports)
}

// reach returns the server at the address and ports that the fleet names. Both the host and the
// matchmaker call it, so the address in tickets is the one that the host's gate expects.
func reach(ctx context.Context, address string, ports map[string]int) (s gameServer, err error) {
	port := ports[gamePort]
	if port < 1 || port > 65535 {
		return s, fmt.Errorf("the fleet has no port named %q", gamePort)
	}
	ip, err := netip.ParseAddr(address)
	if err != nil { // in some clusters it is the name of a machine
		all, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", address)
		if err != nil || len(all) == 0 {
			return s, fmt.Errorf("the fleet's address %q: %w", address, errors.Join(err, errNoServer))
		}
		ip = all[0]
	}
	s.Game = netip.AddrPortFrom(ip.Unmap(), uint16(port))
	if web := ports[webPort]; web > 0 {
		s.Web = "ws://" + net.JoinHostPort(strings.Trim(address, "[]"), strconv.Itoa(web)) + "/"
	}
	return s, nil
}

// placed makes the match that an allocation names, before its players connect.
func (h *hosting) placed(s lifecycle.State) {
	match := s.Annotations[matchNote]
	if match == "" || match == h.newest || !s.Allocated {
		return
	}
	h.newest = match
	if err := h.host.Allocate(match); err != nil {
		h.o.log.Warn("an allocated match was not made", "match", match, "err", err)
	}
}
