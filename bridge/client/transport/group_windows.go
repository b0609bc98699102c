package transport

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object: it holds the process and its descendants, and ends them when
// its last handle is closed, even if the inspector is killed.
type group struct {
	leader *os.Process
	job    windows.Handle // 0 if no job could be created; then group controls the leader only
}

func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func newGroup(leader *os.Process) group {
	g := group{leader: leader}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(job, leader)
	}
	if err != nil {
		_ = windows.CloseHandle(job) // the job is empty
		return g
	}
	g.job = job
	return g
}

func assign(job windows.Handle, leader *os.Process) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(leader.Pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process)
	return windows.AssignProcessToJobObject(job, process)
}

// terminate sends CTRL_BREAK, which reaches console programs only.
func (g group) terminate() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.leader.Pid))
}

// Signal sends CTRL_BREAK to the group of the process: Windows has no other signals.
func (c *Child) Signal(syscall.Signal, bool) error {
	c.group.terminate()
	return nil
}

func (g group) kill() {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
		return
	}
	_ = g.leader.Kill()
}

func (g group) alive() bool {
	if g.job == 0 {
		return false
	}
	// JOBOBJECT_BASIC_ACCOUNTING_INFORMATION
	var info struct {
		TotalUserTime, TotalKernelTime, ThisPeriodTotalUserTime, ThisPeriodTotalKernelTime int64
		TotalPageFaultCount, TotalProcesses, ActiveProcesses, TotalTerminatedProcesses     uint32
	}
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.ActiveProcesses > 0
}

func (g group) release() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
}

func exitOf(state *os.ProcessState) Exit { return Exit{Code: state.ExitCode()} }

// A job ends with its last handle, so no guardian is needed.
func (g group) guard()   {}
func (g group) unguard() {}

// GuardFile does nothing here: if this program is killed, the file stays.
func GuardFile(string) {}
