# Stands in for Homebrew and for the runners of GitHub and GitLab in the trial of a release. It needs Ruby alone.
# usage: ruby standins.rb brew FORMULA RELEASE PREFIX     installs the formula from the files in RELEASE, and runs its test
#        ruby standins.rb action ACTION REF [INPUT=VALUE…] runs the composite action in the directory ACTION, checked out at
#                                                          REF, in the current directory; exit status 1 if a step fails
#        ruby standins.rb gitlab PAGE RELEASE BIN          runs the GitLab job in the Markdown PAGE in the current directory,
#                                                          with the files at the address RELEASE and its command in BIN
require "digest"
require "fileutils"
require "open3"
require "pathname"
require "rbconfig"
require "securerandom"
require "shellwords"
require "tmpdir"
require "yaml"

# Formula has the parts of Homebrew's that our formula uses (https://docs.brew.sh/Formula-Cookbook).
class Formula
  class << self
    attr_reader :facts, :check

    %i[desc homepage version license url sha256].each do |name|
      define_method(name) { |value| (@facts ||= {})[name] = value }
    end

    def on_macos(&block) = only(RbConfig::CONFIG["host_os"].start_with?("darwin"), &block)
    def on_linux(&block) = only(RbConfig::CONFIG["host_os"].start_with?("linux"), &block)
    def on_arm(&block) = only(RbConfig::CONFIG["host_cpu"].match?(/arm|aarch64/), &block)
    def on_intel(&block) = only(RbConfig::CONFIG["host_cpu"].match?(/x86_64|x64/), &block)
    def test(&block) = @check = block

    private

    def only(here) = here && yield
  end

  # Keg is a directory of the installation.
  Keg = Struct.new(:path) do
    def install(*files)
      FileUtils.mkdir_p(path)
      files.flat_map { |f| f.is_a?(Hash) ? f.to_a : [[f, File.basename(f)]] }.each { |from, to| FileUtils.mv(from, File.join(path, to)) }
    end

    def to_s = path
  end

  def initialize(prefix, testpath) = (@prefix, @testpath = prefix, testpath)

  { bin: "bin", man1: "share/man/man1", bash_completion: "etc/bash_completion.d", zsh_completion: "share/zsh/site-functions",
    fish_completion: "share/fish/vendor_completions.d" }.each { |name, dir| define_method(name) { Keg.new(File.join(@prefix, dir)) } }

  def testpath = Pathname.new(@testpath)

  def shell_output(command)
    out, status = Open3.capture2(command, chdir: @testpath)
    status.success? ? out : abort("#{command}: #{status}")
  end

  def assert_match(wanted, got) = got.include?(wanted) || abort("#{got} does not have #{wanted}")
end

def brew(formula, release, prefix)
  text = File.read(formula)
  Object.class_eval(text, formula)
  facts = Stepback.facts
  abort "desc has #{facts[:desc].size} characters, more than 80, or begins with an article" if facts[:desc].size > 80 || facts[:desc] =~ /\A(an?|the)\b/i
  abort "homepage is #{facts[:homepage]}" unless facts[:homepage].match?(%r{\Ahttps://[^/]+/}) && !facts[:homepage].include?("/download/")
  abort "tabs or blanks at the end of lines" if text.match?(/\t|[ ]$/)
  archive = File.join(release, File.basename(facts[:url]))
  abort "#{archive} has another checksum" unless Digest::SHA256.file(archive).hexdigest == facts[:sha256]
  Dir.mktmpdir do |dir|
    system("tar", "-xzf", archive, "-C", dir, exception: true)
    f = Stepback.new(prefix, dir)
    Dir.chdir(Dir.glob("#{dir}/*").first) { f.install } # Homebrew enters an archive's only directory
    f.instance_eval(&Stepback.check)
  end
end

# Runner runs the steps of a composite action.
class Runner
  def initialize(action, ref, inputs)
    @dir = File.expand_path(action)
    @action = YAML.safe_load_file(File.join(@dir, "action.yml"))
    unknown = inputs.keys - @action["inputs"].keys
    abort "the action has no inputs #{unknown.join(", ")}" unless unknown.empty?
    @temp = Dir.mktmpdir
    @context = {
      "inputs" => @action["inputs"].to_h { |name, i| [name, inputs.fetch(name, i["default"] || "")] },
      "github" => { "server_url" => "https://github.invalid", "action_repository" => "owner/stepback", "action_ref" => ref, "action_path" => @dir },
      "steps" => {}
    }
    @failed = false
  end

  def run
    @action["runs"]["steps"].each { |step| step(step) }
    @action["outputs"].each { |name, o| puts "output #{name}=#{fill(o["value"])}" }
    puts File.read("#{@temp}/summary") if File.exist?("#{@temp}/summary")
    exit(1) if @failed
  ensure
    FileUtils.rm_rf(@temp)
  end

  private

  def step(step)
    condition = step["if"] || "${{ success() }}"
    name = step["name"] || step["uses"]
    return puts("skipped #{name}") unless truth(value(condition[/\A\$\{\{(.*)\}\}\z/, 1]))
    abort "the step #{name} needs the action #{step["uses"]}, which is not here" if step["uses"]
    script, out = "#{@temp}/#{SecureRandom.hex}.sh", "#{@temp}/#{SecureRandom.hex}.out"
    File.write(script, step["run"])
    FileUtils.touch(out)
    env = (step["env"] || {}).transform_values { |v| fill(v) }
    env.merge!("GITHUB_ACTIONS" => "true", "GITHUB_ACTION_PATH" => @dir, "GITHUB_OUTPUT" => out, "GITHUB_STEP_SUMMARY" => "#{@temp}/summary",
               "GITHUB_WORKSPACE" => Dir.pwd, "RUNNER_TEMP" => @temp)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    ok = system(env, "bash", "--noprofile", "--norc", "-eo", "pipefail", script, chdir: fill(step["working-directory"] || Dir.pwd))
    puts format("%s %s, %.2f s", ok ? "passed" : "failed", name, Process.clock_gettime(Process::CLOCK_MONOTONIC) - began)
    @failed ||= !ok
    @context["steps"][step["id"]] = { "outcome" => ok ? "success" : "failure", "outputs" => File.readlines(out, chomp: true).to_h { |l| l.split("=", 2) } } if step["id"]
  end

  def fill(text) = text.gsub(/\$\{\{(.*?)\}\}/) { value(Regexp.last_match(1)).to_s }

  def truth(value) = !["", nil, false].include?(value)

  # value returns the value of an expression: names, strings, ==, !=, &&, ||, success() and !cancelled().
  def value(expression)
    both = expression.split("||", 2)
    return truth(left = value(both[0])) ? left : value(both[1]) if both.size == 2
    both = expression.split("&&", 2)
    return truth(left = value(both[0])) ? value(both[1]) : left if both.size == 2
    return value(Regexp.last_match(1)) == value(Regexp.last_match(2)) if expression =~ /\A(.*)==(.*)\z/
    return value(Regexp.last_match(1)) != value(Regexp.last_match(2)) if expression =~ /\A(.*)!=(.*)\z/
    case expression.strip
    when "success()" then !@failed
    when "!cancelled()" then true
    when /\A'([^']*)'\z/ then Regexp.last_match(1)
    when /\A[a-z_][\w.-]*\z/ then expression.strip.split(".").inject(@context) { |at, name| at.is_a?(Hash) ? at[name] : nil } || ""
    else abort "the expression #{expression} is not known here"
    end
  end
end

def gitlab(page, release, bin)
  yaml = File.read(page)[/^GitLab:\n\n```yaml\n(.*?)^```/m, 1] || abort("#{page} has no job of GitLab")
  job = YAML.safe_load(yaml).values.first
  lines = (job["before_script"].grep_v(/apt-get/) + job["script"]).map { |l| l.gsub("/usr/local/bin", bin) }
  exec({ "RELEASE" => release, "PATH" => "#{bin}:#{ENV["PATH"]}" }, "bash", "-eo", "pipefail", "-c", lines.join("\n"))
end

case ARGV.shift
when "brew" then brew(*ARGV)
when "gitlab" then gitlab(*ARGV)
when "action" then Runner.new(ARGV.shift, ARGV.shift, ARGV.to_h { |a| a.split("=", 2) }).run
else abort File.readlines(__FILE__)[1..6].join
end
