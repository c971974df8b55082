class Stepback < Formula
  desc "AWS Step Functions on one machine: validate, test and serve state machines"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@URL@/stepback-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@SHA256:stepback-@VERSION@-darwin-arm64.tar.gz@"
    end
    on_intel do
      url "@URL@/stepback-@VERSION@-darwin-amd64.tar.gz"
      sha256 "@SHA256:stepback-@VERSION@-darwin-amd64.tar.gz@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/stepback-@VERSION@-linux-arm64.tar.gz"
      sha256 "@SHA256:stepback-@VERSION@-linux-arm64.tar.gz@"
    end
    on_intel do
      url "@URL@/stepback-@VERSION@-linux-amd64.tar.gz"
      sha256 "@SHA256:stepback-@VERSION@-linux-amd64.tar.gz@"
    end
  end

  def install
    bin.install "stepback"
    man1.install "man/stepback.1"
    bash_completion.install "completions/stepback.bash" => "stepback"
    zsh_completion.install "completions/stepback.zsh" => "_stepback"
    fish_completion.install "completions/stepback.fish"
  end

  test do
    (testpath/"a.asl.json").write '{"StartAt":"A","States":{"A":{"Type":"Succeed"}}}'
    assert_match "accepted", shell_output("#{bin}/stepback validate a.asl.json")
  end
end
