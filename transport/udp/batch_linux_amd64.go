package udp

// System call numbers that package syscall does not name on this architecture.
const (
	sysRecvmmsg = 299
	sysSendmmsg = 307
)
