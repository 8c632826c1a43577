package udp

// Numbers of system calls.
const (
	sysRecvmmsg = 243
	sysSendmmsg = 269
)
