// Package rollback is work in progress.
package rollback
