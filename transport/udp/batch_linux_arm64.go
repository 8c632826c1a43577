package udp

// System call numbers.
const (
	sysRecvmmsg = 243
	sysSendmmsg = 269
)
