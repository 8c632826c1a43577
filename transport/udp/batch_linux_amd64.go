package udp

// Numbers of system calls, which package syscall does not name on this machine.
const (
	sysRecvmmsg = 299
	sysSendmmsg = 307
)
