// Package flight records matches.
package flight
