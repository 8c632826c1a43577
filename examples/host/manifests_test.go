package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/ticket"
)

// YAML is read by a package of testify, which tests need already: so the module has no dependency
// for it.

// parsed returns the documents of a YAML text as Kubernetes takes them: as JSON objects, each with
// a version and a kind.
func parsed(text string) (docs []object, err error) {
	for i, part := range strings.Split(text, "\n---\n") {
		var doc object
		if err := yaml.Unmarshal([]byte(part), &doc); err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		b, err := json.Marshal(doc)
		if err != nil {
			return nil, fmt.Errorf("document %d is no JSON: %w", i+1, err)
		}
		doc = nil
		if err := json.Unmarshal(b, &doc); err != nil {
			return nil, err
		}
		for _, key := range []string{"apiVersion", "kind"} {
			if _, ok := doc[key].(string); !ok {
				return nil, fmt.Errorf("document %d has no %s", i+1, key)
			}
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// at returns the value at a path such as "spec.ports.0.name", and nil if there is none.
func at(v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case object:
			v = in[key]
		case []any:
			i := 0
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

func documents(t *testing.T, name string) []object {
	t.Helper()
	b, err := os.ReadFile("fleet/" + name)
	require.NoError(t, err)
	docs, err := parsed(string(b))
	require.NoError(t, err, name)
	return docs
}

// flags parses the arguments of a container as the program does. The secret with the key is mounted
// where they say.
func flags(t *testing.T, container any) options {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("ab", ticket.KeySize)), 0o600))
	require.Equal(t, object{"name": "keys", "mountPath": "/keys", "readOnly": true}, at(container, "volumeMounts.0"))
	var args []string
	for _, a := range at(container, "args").([]any) {
		if a == "/keys/key" {
			a = file
		}
		args = append(args, a.(string))
	}
	o, err := parse(args, io.Discard)
	require.Equal(t, file, o.keys.path)
	require.NoError(t, err)
	return o
}

// The manifests are YAML, and say the same as the program and as one another.
func TestManifests(t *testing.T) {
	hosts := documents(t, "fleet.yaml")[0]
	require.Equal(t, "Fleet", hosts["kind"])
	name := at(hosts, "metadata.name").(string)
	gs := at(hosts, "spec.template.spec")
	container := at(gs, "template.spec.containers.0")
	o := flags(t, container)
	require.Equal(t, "host", o.role)
	volumes := at(gs, "template.spec.volumes").([]any)
	require.Equal(t, []any{"keys", "tapes"}, []any{at(volumes[0], "name"), at(volumes[1], "name")})
	require.Equal(t, object{"name": "tapes", "mountPath": o.tapes}, at(container, "volumeMounts.1"))
	require.True(t, o.agones)
	for i, p := range []struct{ name, listens, protocol string }{{gamePort, o.game, "UDP"}, {webPort, o.web, "TCP"}} {
		port := at(gs, fmt.Sprint("ports.", i))
		require.Equal(t, p.name, at(port, "name"))
		require.Equal(t, p.protocol, at(port, "protocol"))
		require.Equal(t, p.listens, fmt.Sprint(":", at(port, "containerPort")))
	}
	require.EqualValues(t, o.matches, at(gs, "counters.rooms.capacity"))
	require.EqualValues(t, o.matches*o.players, at(gs, "counters.players.capacity"))
	grace := time.Duration(at(gs, "template.spec.terminationGracePeriodSeconds").(float64)) * time.Second
	require.Greater(t, grace, o.drain, "matches are shut down before the pod is removed")
	silence := time.Duration(at(gs, "health.periodSeconds").(float64)) * time.Second
	require.Greater(t, silence, 2*2*time.Second, "a sign of life that is lost does no harm")

	scaler := documents(t, "autoscaler.yaml")[0]
	require.Equal(t, "FleetAutoscaler", scaler["kind"])
	require.Equal(t, name, at(scaler, "spec.fleetName"))
	require.Equal(t, "Counter", at(scaler, "spec.policy.type"))
	counter := at(scaler, "spec.policy.counter")
	require.NotNil(t, at(gs, "counters."+at(counter, "key").(string)))
	least, most, free := at(counter, "minCapacity").(float64), at(counter, "maxCapacity").(float64), at(counter, "bufferSize").(float64)
	require.True(t, 0 < free && free <= least && least < most)

	monitor := documents(t, "podmonitor.yaml")[0]
	require.Equal(t, "PodMonitor", monitor["kind"])
	labels := at(gs, "template.metadata.labels").(object)
	require.Equal(t, labels["app"], at(monitor, "spec.selector.matchLabels.app"))
	require.Equal(t, "foretick", labels[at(monitor, "spec.jobLabel").(string)], "as the alerts name the job")
	endpoint := at(monitor, "spec.podMetricsEndpoints.0")
	require.Equal(t, "/metrics", at(endpoint, "path"))
	require.Equal(t, at(container, "ports.0.name"), at(endpoint, "port"))
	require.Equal(t, o.page, fmt.Sprint(":", at(container, "ports.0.containerPort")))

	asked, err := json.Marshal((&fleet{name: name}).allocation("try"))
	require.NoError(t, err)
	allocation, err := json.Marshal(documents(t, "allocation.yaml")[0])
	require.NoError(t, err)
	require.JSONEq(t, string(asked), string(allocation), "the manifest is what the matchmaker asks for")

	all := documents(t, "matchmaker.yaml")
	var kinds []string
	for _, d := range all {
		kinds = append(kinds, d["kind"].(string))
		require.Equal(t, "matchmaker", at(d, "metadata.name"))
	}
	require.Equal(t, []string{"ServiceAccount", "Role", "RoleBinding", "Deployment", "Service"}, kinds)
	o = flags(t, at(all[3], "spec.template.spec.containers.0"))
	require.Equal(t, "matchmaker", o.role)
	require.Equal(t, name, o.fleet)
	require.Equal(t, "gameserverallocations", at(all[1], "rules.0.resources.0"))
	require.Equal(t, at(all[3], "spec.template.metadata.labels.app"), at(all[4], "spec.selector.app"))
}

// The check of manifests finds what is wrong.
func TestBrokenManifests(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: Fleet\n":                       "",
		"apiVersion: v1\n\tkind: Fleet":                       "document 1",
		"apiVersion: v1\nkind: Fleet\n---\napiVersion: [v1\n": "document 2",
		"apiVersion: v1\nkind: A\nkind: B\n":                  "already defined",
		"apiVersion: v1\n":                                    "no kind",
		"kind: A\napiVersion: 1\n":                            "no apiVersion",
		"- a\n- b\n":                                          "document 1",
		"":                                                    "no apiVersion",
	} {
		_, err := parsed(text)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want, "%q", text)
		}
	}
}

// The Dockerfile builds a program and opens its ports.
func TestDockerfile(t *testing.T) {
	b, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	line := regexp.MustCompile(`^(FROM|ARG|WORKDIR|COPY|RUN|USER|EXPOSE|ENTRYPOINT) \S`)
	for l := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n") {
		if l != "" && !strings.HasPrefix(l, "#") {
			require.Regexp(t, line, l)
		}
	}
	require.Contains(t, string(b), " -o /host ${PACKAGE}\n")
	require.Contains(t, string(b), `ENTRYPOINT ["/host"]`)
	o := flags(t, at(documents(t, "fleet.yaml")[0], "spec.template.spec.template.spec.containers.0"))
	require.Contains(t, string(b), fmt.Sprintf("EXPOSE %s/udp %s/tcp %s/tcp", o.game[1:], o.web[1:], o.page[1:]))
}
