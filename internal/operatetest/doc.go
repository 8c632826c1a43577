// Package operatetest runs the commands of the guide's pages for operators: operate.md, keys.md,
// tuning.md and sizing.md. They need programs of the system and Linux's namespaces. Where one is
// missing they are left out, unless REQUIRE_PROGRAMS is 1, as in .ci/run proxies.
package operatetest
