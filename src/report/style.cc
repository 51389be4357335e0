#include "report/style.h"

namespace ringward::report {

// Chart text is in SVG units and shrinks with its column: the media query keeps it readable on a
// phone. Colours keep a contrast of at least 4.5 : 1 (text) and 3 : 1 (marks) on their card.
const char* const kStyleSheet = R"css(
:root {
  color-scheme: light dark;
  --page: #f3f5f8; --card: #ffffff; --ink: #16202b; --soft: #51606f; --rule: #d8dfe7;
  --grid: #e6ebf1; --c1: #1d63cf; --c2: #c9480c; --c3: #0c7a55; --c4: #7a3fc0; --mark: #16202b;
  --warn-ink: #7a4300; --warn: #fff4e0; --warn-rule: #eea63a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e1318; --card: #171e26; --ink: #e8edf3; --soft: #a7b3c0; --rule: #2d3845;
    --grid: #252f3a; --c1: #6ea8ff; --c2: #ff9a5c; --c3: #55cf9c; --c4: #c4a1ff; --mark: #e8edf3;
    --warn-ink: #ffd591; --warn: #2e2413; --warn-rule: #a8711c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
}
main { max-width: 1180px; margin: 0 auto; padding: 28px 16px 48px; }
h1, h2, h3, caption, .legend { overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 1.2rem; margin: 36px 0 12px; }
h3 { font-size: 1rem; margin: 0; }
header p { color: var(--soft); margin: 6px 0 0; overflow-wrap: anywhere; }
footer { color: var(--soft); font-size: .85rem; margin-top: 40px; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 16px; margin: 0; }
.tiles { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); margin: 22px 0 0; padding: 0; }
.tile { display: flex; flex-direction: column; }
.tile dt { color: var(--soft); font-size: .85rem; overflow-wrap: anywhere; }
.tile .value { margin: 2px 0; font-size: 1.7rem; line-height: 1.2; font-weight: 650; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.tile .note { margin: 0; color: var(--soft); font-size: .8rem; line-height: 1.35; }
.columns { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr)); }
.columns > * { min-width: 0; }
figcaption p { color: var(--soft); font-size: .85rem; margin: 2px 0 8px; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 0 0 6px; padding: 0; font-size: .85rem; }
.legend svg { width: 22px; height: 10px; margin-right: 6px; overflow: visible; vertical-align: baseline; }
.chart { display: block; width: 100%; max-width: 640px; height: auto; margin: 0 auto; font-size: 12px; font-variant-numeric: tabular-nums; }
.chart text { fill: var(--soft); }
.chart .strong { fill: var(--ink); font-weight: 600; stroke: var(--card); stroke-width: 3px; paint-order: stroke; }
.grid { stroke: var(--grid); stroke-width: 1; }
.base { stroke: var(--soft); stroke-width: 1; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.dashed { stroke-dasharray: 2 5; }
.area { stroke: none; fill-opacity: .12; }
.step { stroke-width: 1.3; fill-opacity: .38; stroke-linejoin: round; }
.s1 { stroke: var(--c1); } .s2 { stroke: var(--c2); } .s3 { stroke: var(--c3); } .s4 { stroke: var(--c4); }
.s0 { stroke: var(--soft); }
.f1 { fill: var(--c1); } .f2 { fill: var(--c2); } .f3 { fill: var(--c3); } .f4 { fill: var(--c4); }
.marker { fill: var(--mark); stroke: var(--card); stroke-width: 2; }
.threshold { stroke: var(--mark); stroke-width: 1.5; stroke-dasharray: 5 3; }
.alarm-side { fill: var(--c2); fill-opacity: .07; }
.hit { fill: var(--ink); fill-opacity: 0; }
.hit:hover { fill-opacity: .09; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--c1); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; color: var(--soft); font-size: .85rem; padding-bottom: 8px; }
th, td { text-align: left; padding: 7px 14px 7px 0; border-bottom: 1px solid var(--rule); vertical-align: top; overflow-wrap: break-word; }
thead th { color: var(--soft); font-weight: 600; font-size: .82rem; vertical-align: bottom; }
tbody tr:last-child > * { border-bottom: 0; }
tbody th { font-weight: 500; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
.number + :not(.number) { padding-left: 12px; }
.scroll td:last-child:not(.number) { min-width: 12rem; }
.stack { display: grid; gap: 16px; align-content: start; }
.bars th { width: 40%; overflow-wrap: anywhere; }
.bars th, .bars td { vertical-align: middle; }
.bars td.bar { width: 36%; padding-right: 12px; }
.bars i { display: block; height: 14px; border-radius: 3px; background: var(--c1); min-width: 2px; }
.bars td.track i { background: linear-gradient(to right, var(--c1) var(--w), var(--grid) var(--w)); }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 250px), 1fr)); gap: 10px 24px; margin: 0; }
.facts div { min-width: 0; }
.facts dt { color: var(--soft); font-size: .82rem; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.notes { list-style: none; margin: 0; padding: 0; display: grid; gap: 8px; }
.notes li { border: 1px solid var(--rule); border-left: 4px solid var(--c1); background: var(--card); border-radius: 6px; padding: 9px 14px; overflow-wrap: anywhere; }
.notes li.warning { border-color: var(--warn-rule); background: var(--warn); color: var(--warn-ink); }
#tip { position: fixed; z-index: 9; pointer-events: none; background: var(--ink); color: var(--card); border-radius: 6px; padding: 6px 10px; font-size: .82rem; line-height: 1.4; white-space: pre; max-width: calc(100vw - 16px); overflow: hidden; }
@media (max-width: 520px) {
  .chart { font-size: 16px; }
  .card { padding: 12px; }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .tile .value { font-size: 1.4rem; }
}
@media print { .card, .tile { break-inside: avoid; } }
)css";

// Takes the native tooltips' texts over, so that they come at once and do not show twice.
const char* const kScript = R"js(
(function () {
  var tip = document.createElement('div');
  tip.id = 'tip';
  tip.hidden = true;
  tip.setAttribute('role', 'status');
  document.body.appendChild(tip);
  function hide() { tip.hidden = true; }
  document.querySelectorAll('svg .hit').forEach(function (hit) {
    var title = hit.querySelector('title');
    if (!title) return;
    var text = title.textContent;
    hit.removeChild(title);
    hit.setAttribute('aria-label', text);
    hit.addEventListener('pointermove', function (event) {
      tip.textContent = text;
      tip.hidden = false;
      var box = tip.getBoundingClientRect();
      var left = event.clientX + 16;
      if (left + box.width > window.innerWidth - 8) left = event.clientX - box.width - 16;
      var top = Math.min(event.clientY + 16, window.innerHeight - box.height - 8);
      tip.style.left = Math.max(8, left) + 'px';
      tip.style.top = Math.max(8, top) + 'px';
    });
    hit.addEventListener('pointerleave', hide);
  });
  window.addEventListener('scroll', hide, { passive: true });
})();
)js";

}  // namespace ringward::report
