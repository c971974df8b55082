// The console's script: live updates, the keyboard, and small comforts. Pages are complete without it.
const $ = (s, of = document) => of.querySelector(s), $$ = (s, of = document) => [...of.querySelectorAll(s)];

// Times are UTC; the local one shows on hover.
const local = (of) => $$("time[datetime]", of).forEach((t) => { t.title = new Date(t.dateTime).toLocaleString() + " (local)"; });
local(document);

// Live: the server says that something has changed, the page asks for itself and takes over the parts marked data-live.
// Nothing moves under the pointer or the cursor: such a part waits until it is asked for.
const live = $(".live"), fresh = $("#fresh");
let waiting = null, asking = false, again = false;
const busy = (e) => e.matches(":hover") || e.contains(document.activeElement) || $("details[open], dialog[open]", e);
function take(next, all) {
  let left = false;
  for (const e of $$("[data-live]")) {
    const n = next.getElementById(e.id);
    if (!n || n.innerHTML === e.innerHTML) continue;
    if (!all && busy(e)) { left = true; continue; }
    e.replaceChildren(...n.childNodes);
    local(e);
  }
  waiting = left ? next : null;
  if (fresh) fresh.hidden = !left;
}
async function refresh() {
  if (asking) { again = true; return; }
  asking = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html", "X-Stepback-Live": "1" } });
    if (answer.ok) take(new DOMParser().parseFromString(await answer.text(), "text/html"), false);
  } catch { /* the stream tells when the server is back */ }
  asking = false;
  if (again) { again = false; setTimeout(refresh, 1000); }
}
fresh?.addEventListener("click", () => waiting && take(waiting, true));
let stream;
function listen() {
  const from = document.body.dataset.stream;
  if (!from || stream || document.hidden) return;
  let lost = false;
  stream = new EventSource(from);
  stream.onopen = () => { live?.classList.add("on"); if (live) live.textContent = "live"; if (lost) refresh(); lost = false; };
  stream.onerror = () => { lost = true; live?.classList.remove("on"); if (live) live.textContent = "not connected"; };
  stream.addEventListener("change", refresh);
}
document.addEventListener("visibilitychange", () => {
  if (document.hidden) { stream?.close(); stream = null; live?.classList.remove("on"); } else { listen(); refresh(); }
});
listen();
// What is counted down is counted down here.
setInterval(() => $$("[data-until]").forEach((e) => {
  const s = Math.max(0, Math.round((Date.parse(e.dataset.until) - Date.now()) / 1000));
  e.textContent = s >= 3600 ? `${Math.floor(s / 3600)}h ${Math.floor(s % 3600 / 60)}m` : s >= 60 ? `${Math.floor(s / 60)}m ${s % 60}s` : `${s}s`;
}), 1000);

// The editor's gutter goes with its text; a remark leads to its place.
const text = $(".editor textarea"), gutter = $(".editor .gutter");
text?.addEventListener("scroll", () => { gutter.scrollTop = text.scrollTop; });
text?.addEventListener("input", () => { const n = text.value.split("\n").length; if (n !== +gutter.dataset.n) { gutter.dataset.n = n; gutter.textContent = Array.from({ length: n }, (_, i) => i + 1).join("\n"); } });
$$("[data-line]").forEach((a) => a.addEventListener("click", (e) => {
  e.preventDefault();
  const lines = text.value.split("\n"), line = +a.dataset.line - 1;
  const at = lines.slice(0, line).reduce((n, l) => n + l.length + 1, 0) + Math.max(0, +a.dataset.column - 1);
  text.focus(); text.setSelectionRange(at, at + 1); text.scrollTop = Math.max(0, line * 18 - 160);
}));
$$("[data-all]").forEach((box) => box.addEventListener("change", () => $$(`input[name="${box.dataset.all}"]`).forEach((b) => { b.checked = box.checked; })));

$("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

// The keyboard. Nothing is done on one key: keys move, open and show.
const rows = () => $$("tbody tr").filter((r) => $("a[href]", r) && r.offsetParent);
function move(by) {
  const all = rows(), at = all.findIndex((r) => r.classList.contains("here"));
  const next = all[Math.min(all.length - 1, Math.max(0, at + by))];
  all[at]?.classList.remove("here");
  if (!next) return;
  next.classList.add("here"); $("a[href]", next).focus({ preventScroll: true }); next.scrollIntoView({ block: "nearest" });
}
const go = { t: "", m: "machines", a: "alarms", b: "dashboards", r: "retries", d: "deadletters", l: "lab", s: "services", o: "logs" };
const help = $("#keys"), param = (name, value) => { const u = new URL(location); u.searchParams.set(name, value); location = u; };
let g = false;
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "Escape") {
    const open = $("details[open]");
    if (help?.open) help.close(); else if (/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) document.activeElement.blur();
    else if (open) { open.open = false; $("summary", open).focus(); } else if ($(".crumbs a")) location = $$(".crumbs a").at(-1).href;
    return;
  }
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
  if (g) { g = false; if (e.key in go) { e.preventDefault(); location = "/_stepback/" + go[e.key]; } return; }
  const tabs = $$(".tabs a"), event = +(document.body.dataset.event || 0);
  switch (e.key) {
    case "g": g = true; setTimeout(() => { g = false; }, 1500); break;
    case "?": help?.open ? help.close() : help?.showModal(); break;
    case "/": ($(".filter input[type=text]") || $("header input"))?.focus(); break;
    case "j": move(1); break;
    case "k": move(-1); break;
    case "[": if (event > 1) param("e", event - 1); break;
    case "]": if (event) param("e", event + 1); break;
    case "f": $("[data-key=f]")?.click(); break;
    case "r": case ".": { const d = $(e.key === "r" ? "[data-key=r]" : ".actions details"); if (d) { d.open = true; $("summary", d).focus(); } break; }
    case "1": case "2": case "3": case "4": tabs[+e.key - 1]?.click(); break;
    default: return;
  }
  e.preventDefault();
});

// A range of time is selected by dragging over a chart; the links beside the range do the same without a pointer.
const at = (e, zoom) => {
  const { left, width } = $("svg", zoom).getBoundingClientRect(), d = zoom.dataset;
  const x = (e.clientX - left) * d.width / width;
  return { x: Math.min(+d.right, Math.max(+d.left, x)), share: Math.min(1, Math.max(0, (x - d.left) / (d.right - d.left))) };
};
document.addEventListener("pointerdown", (e) => {
  const zoom = e.target.closest?.(".zoom");
  if (!zoom || e.button !== 0) return;
  e.preventDefault();
  const began = at(e, zoom), svg = $("svg", zoom), box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ class: "sel", y: 0, height: svg.viewBox.baseVal.height, x: began.x, width: 0 })) box.setAttribute(name, value);
  svg.append(box);
  const move = (e) => { const now = at(e, zoom); box.setAttribute("x", Math.min(now.x, began.x)); box.setAttribute("width", Math.abs(now.x - began.x)); };
  addEventListener("pointermove", move);
  addEventListener("pointerup", (e) => {
    removeEventListener("pointermove", move);
    box.remove();
    const ended = at(e, zoom), from = Date.parse(zoom.dataset.from), to = Date.parse(zoom.dataset.to);
    const time = (share) => new Date(from + share * (to - from)).toISOString().slice(0, 19);
    const [a, b] = [began.share, ended.share].sort((x, y) => x - y);
    if ((b - a) * (to - from) < 60000) return;
    const u = new URL(location);
    u.searchParams.delete("range"); u.searchParams.set("from", time(a)); u.searchParams.set("to", time(b));
    location = u;
  }, { once: true });
});
