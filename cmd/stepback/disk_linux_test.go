package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stepback/cmd/stepback/exit"
)

// stepback fails on a full file system of one megabyte, and succeeds once that has grown.
func TestADiskThatIsFull(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a small file system cannot be mounted here (it takes root on Linux): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	data := filepath.Join(disk, "data")
	asProcess(t, "run", "--data", data).complains(t, 1, "stepback: the disk of "+data+
		" is full; applied rows are not lost. Free space and run the same command again")
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=100m"); err != nil {
		t.Fatal(err)
	}
	asProcess(t, "run", "--data", data).ends(t, 0, "SUCCEEDED", "in the file 10,000")
	users := asProcess(t, "export", "users", "--data", data)
	other := t.TempDir()
	stepback(t, "run", "--data", other).ends(t, 0)
	if want := stepback(t, "export", "users", "--data", other); users.out != want.out {
		t.Error("the users differ from those of a run with room enough")
	}
}

// A server refuses executions while the disk is full, and accepts them again when there is space.
func TestServeOnADiskThatIsFull(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=20m"); err != nil {
		t.Skipf("a small file system cannot be mounted here (it takes root on Linux): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	url, stop := serving(t, filepath.Join(disk, "data"))
	defer stop()
	address := strings.TrimPrefix(url, "http://")
	post(t, address, "CreateStateMachine", `{"name":"m","roleArn":"arn:aws:iam::000000000000:role/r",`+
		`"definition":"{\"StartAt\":\"P\",\"States\":{\"P\":{\"Type\":\"Pass\",\"End\":true}}}"}`)
	const start = `{"stateMachineArn":"arn:aws:states:us-east-1:000000000000:stateMachine:m"}`
	if got := post(t, address, "StartExecution", start); !strings.Contains(got,
		`"ServiceUnavailable","message":"The disk of the data directory is full`) {
		t.Error(got)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=300m"); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(post(t, address, "StartExecution", start),
		`"executionArn"`) { // the disk is checked again from time to time
		if t.Context().Err() != nil {
			t.Fatal("executions are still refused")
		}
	}
}

// The data directory of a run can be read on a read-only disk; what a killed run left there is reported with advice.
func TestADiskThatCannotBeWrittenTo(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=100m"); err != nil {
		t.Skipf("a file system cannot be mounted here (it takes root on Linux): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	data := filepath.Join(disk, "data")
	stepback(t, "run", "--data", data, "--csv",
		write(t, "user_id,login_count,post_count\nanna,1,2\nbert,3,4\n")).ends(t, 0)
	remount := func(flags uintptr) {
		if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT|flags, "size=100m"); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	if s := stepback(t, "export", "users", "--data",
		data); s.out != "user_id,login_count,post_count\nanna,1,2\nbert,3,4\n" {
		t.Errorf("%s%s", s.out, s.err)
	}
	stepback(t, "data", "check", "--data", data).ends(t, 0, "problems: 0")
	remount(0)
	tell(t, os.WriteFile(filepath.Join(data, "users.db-wal"), []byte("what a killed process leaves"), 0o600))
	remount(syscall.MS_RDONLY)
	stepback(t, "export", "users", "--data", data).complains(t, exit.Failure,
		"users.db-wal holds records that are not in ", "copy both files to a writable directory",
		"--db sqlite:/that/directory/users.db")
}
