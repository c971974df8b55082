package s3

import (
	"testing"
)

// While the settings of one bucket are written, they and those of other buckets can be read and changed.
func TestSettingsAreReadWhileOthersAreWritten(t *testing.T) {
	t.Parallel()
	s, err := openStore(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.changeSettings("a", map[string]string{"x": "1"}); err != nil {
		t.Fatal(err)
	}
	writing, proceed := make(chan struct{}), make(chan struct{})
	free := s.newFile
	s.newFile = func(dir string) (bodyFile, error) {
		s.newFile = free
		close(writing)
		<-proceed
		return newBodyFile(dir)
	}
	done := make(chan error)
	go func() { done <- s.changeSettings("a", map[string]string{"x": "2"}) }()
	<-writing
	if all, err := s.settingsOf("a"); err != nil || all["x"] != "1" {
		t.Errorf("%v, %v", all, err)
	}
	if err := s.changeSettings("b", map[string]string{"y": "3"}); err != nil {
		t.Error(err)
	}
	if all, err := s.settingsOf("b"); err != nil || all["y"] != "3" {
		t.Errorf("%v, %v", all, err)
	}
	after := make(chan error)
	go func() { after <- s.changeSettings("a", map[string]string{"z": "4"}) }() // waits for its turn
	close(proceed)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := <-after; err != nil {
		t.Error(err)
	}
	if all, err := s.settingsOf("a"); err != nil || all["x"] != "2" || all["z"] != "4" {
		t.Errorf("%v, %v", all, err)
	}
}

// A file that was read before a change is not kept.
func TestOutdatedSettingsAreReadAgain(t *testing.T) {
	t.Parallel()
	var c settingsCache
	_, read := c.get("a")
	c.changed("a", map[string]string{"x": "2"})
	if c.keep(read, map[string]string{"x": "1"}) {
		t.Error("outdated settings are kept")
	}
	if all, read := c.get("a"); read != nil || all["x"] != "2" {
		t.Errorf("%v", all)
	}
	c.changed("a", nil)
	if _, read := c.get("a"); read == nil {
		t.Error("forgotten settings are known")
	}
}
