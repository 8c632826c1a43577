package nettest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"unsafe"
)

// within names the environment variable that is set in a process with its own network.
const within = "FORETICK_TEST_NETWORK"

// Namespace runs a test in a process with a separate network, which the test may change. It reports
// whether this is that process. The test is skipped if the system gives the user no network.
func Namespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(within) != "" {
		link(t, syscall.IFF_UP)
		return true
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-test.run", "^" + t.Name() + "$", "-test.v", "-test.count=1"}
	if *Soak {
		args = append(args, "-soak")
	}
	child := exec.CommandContext(t.Context(), program, args...)
	child.Env = append(os.Environ(), within+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := child.CombinedOutput()
	var ran *exec.ExitError
	if err != nil && !errors.As(err, &ran) {
		t.Skipf("this system gives a process no network of its own: %v", err)
	}
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	return false
}

// Address gives this machine an IPv4 address, or takes it away.
func Address(t testing.TB, a netip.Addr, has bool) {
	t.Helper()
	kind, flags := uint16(syscall.RTM_DELADDR), uint16(0)
	if has {
		kind, flags = syscall.RTM_NEWADDR, syscall.NLM_F_CREATE|syscall.NLM_F_REPLACE
	}
	b := (*[syscall.SizeofIfAddrmsg]byte)(unsafe.Pointer(&syscall.IfAddrmsg{Family: syscall.AF_INET, Prefixlen: 32, Index: loopback}))[:]
	ask(t, kind, flags, b, attribute(syscall.IFA_LOCAL, a.AsSlice()), attribute(syscall.IFA_ADDRESS, a.AsSlice()))
}

// Prefer makes the system use from as the source address for datagrams to another address of this
// machine.
func Prefer(t testing.TB, to, from netip.Addr) {
	t.Helper()
	b := (*[syscall.SizeofRtMsg]byte)(unsafe.Pointer(&syscall.RtMsg{
		Family: syscall.AF_INET, Dst_len: 32, Table: syscall.RT_TABLE_LOCAL, Protocol: syscall.RTPROT_KERNEL,
		Scope: syscall.RT_SCOPE_HOST, Type: syscall.RTN_LOCAL,
	}))[:]
	ask(t, syscall.RTM_NEWROUTE, syscall.NLM_F_CREATE|syscall.NLM_F_REPLACE, b, attribute(syscall.RTA_DST, to.AsSlice()),
		attribute(syscall.RTA_PREFSRC, from.AsSlice()), attribute(syscall.RTA_OIF, binary.NativeEndian.AppendUint32(nil, loopback)))
}

// loopback is the number of the device lo, the only one in a new network.
const loopback = 1

func link(t testing.TB, flags uint32) {
	t.Helper()
	b := (*[syscall.SizeofIfInfomsg]byte)(unsafe.Pointer(&syscall.IfInfomsg{Index: loopback, Flags: flags, Change: flags}))[:]
	ask(t, syscall.RTM_NEWLINK, 0, b)
}

func attribute(kind uint16, value []byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(syscall.SizeofRtAttr+len(value)))
	return append(binary.NativeEndian.AppendUint16(b, kind), value...)
}

// ask makes the system change its network, as rtnetlink(7) describes.
func ask(t testing.TB, kind, flags uint16, parts ...[]byte) {
	t.Helper()
	if err := change(kind, flags, parts); err != nil {
		t.Fatalf("the system does not change its network: %v", err)
	}
}

func change(kind, flags uint16, parts [][]byte) error {
	s, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW, syscall.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer syscall.Close(s)
	b := make([]byte, syscall.SizeofNlMsghdr)
	for _, p := range parts {
		b = append(b, p...)
	}
	binary.NativeEndian.PutUint32(b, uint32(len(b)))
	binary.NativeEndian.PutUint16(b[4:], kind)
	binary.NativeEndian.PutUint16(b[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_ACK|flags)
	if err := syscall.Sendto(s, b, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := syscall.Recvfrom(s, answer, 0)
	if err != nil {
		return err
	}
	all, err := syscall.ParseNetlinkMessage(answer[:n])
	if err != nil || len(all) == 0 || all[0].Header.Type != syscall.NLMSG_ERROR {
		return fmt.Errorf("no answer: %w", err)
	}
	if code := int32(binary.NativeEndian.Uint32(all[0].Data)); code != 0 {
		return syscall.Errno(-code)
	}
	return nil
}
