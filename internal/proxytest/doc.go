// Package proxytest plays matches through proxies as operators run them: nginx, Caddy and
// haproxy in front of package ws and of the inspector's page, and nginx in front of package udp.
// Each row of its tests has a setting, right or wrong, and what a client then says. The tests
// need these programs. Where one is missing they are left out, unless REQUIRE_PROGRAMS is 1,
// as in .ci/run proxies, which installs them.
package proxytest
