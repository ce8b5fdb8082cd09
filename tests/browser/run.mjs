// The HTML report (REQ-RP-040 to 047) and a handoff page in Chromium: what is seen, what the keyboard does, and that
// nothing leaves the page. Screenshots stay in WORK_DIRECTORY for people.
//   node run.mjs REMIT GOLDEN_CASES CHROMIUM MODULES WORK_DIRECTORY
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [remit, golden, executablePath, modules, work] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(pathToFileURL(join(modules, "anchor.js")));
const { chromium } = require("playwright-core");
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });

function grade(directory, words) {
  const traces = readdirSync(directory).filter((file) => file.endsWith(".jsonl")).sort();
  const manifest = existsSync(join(directory, "manifest.yaml")) ? ["--manifest", "manifest.yaml"] : [];
  const ran = spawnSync(remit, ["grade", ...traces, ...manifest, ...words], { cwd: directory, encoding: "utf8" });
  assert.ok(ran.status <= 2, ran.stderr);
}

function reportOf(directory, name) {
  const file = join(work, `${name}.html`);
  grade(directory, ["--write", `html=${file}`]);
  return file;
}

// A run of many invocations, of which every one has a finding.
function crowd(count) {
  const directory = join(work, "crowd");
  mkdirSync(directory);
  const lines = [];
  for (let i = 0; i < count; ++i) {
    const common = { invocation_id: `call-${i}`, tool: i % 2 ? "invoice.read" : "refund.create" };
    lines.push(JSON.stringify({ event: "tool.request", ...common }));
    lines.push(JSON.stringify({ event: "authorization.decision", ...common, decision: "deny",
      reason: "missing_scope", policy_version: "v1" }));
    lines.push(JSON.stringify({ event: "executor.start", ...common }));
  }
  writeFileSync(join(directory, "trace.jsonl"), lines.join("\n") + "\n");
  return directory;
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

// Opens a page that counts what it asks for and what goes wrong in it.
async function open(file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  const seen = { requests: [], faults: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("console", (message) => message.type() === "error" && seen.faults.push(message.text()));
  page.on("pageerror", (error) => seen.faults.push(error.message));
  page.on("dialog", (dialog) => {
    seen.faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.goto(pathToFileURL(file).href);
  return { page, seen, close: () => context.close() };
}

function assertQuiet(seen) {
  assert.deepEqual(seen.faults, []);
  assert.equal(seen.requests.length, 1, `asked for ${seen.requests.join(", ")}`);
}

// The least contrast of any element with text of its own, by the formula of WCAG 2.
const leastContrast = (page) => page.evaluate(() => {
  const parse = (text) => text.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const part = (value) => {
      const x = value / 255;
      return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  let least = 21;
  for (const element of document.body.querySelectorAll("*")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!hasText || element.offsetParent === null) continue;
    const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(groundOf(element))];
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
});

async function storyIsSeen(file, colorScheme) {
  const { page, seen, close } = await open(file, { colorScheme });
  assert.equal(await page.locator(".card").count(), 4);
  for (const word of ["planning", "enforcement", "execution", "completeness"]) {
    assert.ok(await page.getByRole("heading", { name: word }).isVisible(), word);
  }
  assert.ok(await page.getByRole("heading", { name: "Scope" }).isVisible());
  assert.ok(await page.getByRole("grid").isVisible());
  assert.equal(await page.locator("#list > li").count(), 1);
  assert.equal(await page.locator("details[open]").count(), 0);
  await page.locator("summary").first().click();
  await page.locator(".timeline .named").first().waitFor();  // filled when the browser has told of the opening
  assert.ok((await page.locator(".first").first().innerText()).includes("forbidden_request"));
  const contrast = await leastContrast(page);
  assert.ok(contrast >= 4.5, `contrast ${contrast} in ${colorScheme}`);
  await page.screenshot({ path: join(work, `story-${colorScheme}.png`), fullPage: true });
  assertQuiet(seen);
  await close();
}

async function keyboardReachesAll(file) {
  const { page, seen, close } = await open(file);
  const focused = () => page.evaluate(() => {
    const at = document.activeElement;
    return { name: at.tagName, id: at.id, text: at.innerText ?? "",
      outline: getComputedStyle(at).outlineStyle, case: at.closest("tr")?.dataset.case };
  });
  await page.keyboard.press("Tab");
  assert.equal((await focused()).text, "To the findings");
  await page.keyboard.press("Tab");
  let at = await focused();
  assert.equal(at.name, "TD");
  assert.notEqual(at.outline, "none", "the focus is visible");
  await page.keyboard.press("ArrowDown");
  assert.notEqual((await focused()).case, at.case);
  await page.keyboard.press("End");
  assert.equal(await page.locator("#matrix td[tabindex='0']").count(), 1);
  await page.keyboard.press("Home");
  await page.keyboard.press("PageUp");
  assert.equal((await focused()).case, at.case);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.id === "invocations");
  assert.equal(await page.locator("select[name=verdict]").inputValue(), "planning");
  assert.equal(await page.locator("select[name=case]").inputValue(), at.case);
  for (const name of ["case", "verdict", "value", "owner", "code"]) {
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.name), name);
  }
  await page.keyboard.press("Tab");
  await page.keyboard.type("no such text");
  assert.equal(await page.locator("#list > li").count(), 0);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("#list > li").length === 1);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("details[open]").count(), 1, "a finding opens by Enter");
  assertQuiet(seen);
  await close();
}

async function hostileTextStaysText(file) {
  const { page, seen, close } = await open(file);
  await page.locator("summary").first().click();
  assert.equal(await page.evaluate(() => document.scripts.length), 2);
  assert.equal(await page.locator("a[href='x']").count(), 0);
  assert.ok((await page.locator("summary").first().innerText()).includes("<a href="));
  assert.ok(!(await page.content()).includes("\u202e"));
  assertQuiet(seen);
  await close();
}

async function crowdIsBounded(file) {
  const { page, seen, close } = await open(file);
  assert.equal(await page.locator("#list > li").count(), 50);
  assert.ok((await page.locator("#count").innerText()).startsWith("10000 of 10000"));
  await page.getByRole("button", { name: "Show more" }).click();
  assert.equal(await page.locator("#list > li").count(), 100);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "SUMMARY");
  await page.getByLabel("text").fill("call-9999");
  assert.equal(await page.locator("#list > li").count(), 1);
  assertQuiet(seen);
  await close();
}

async function paperIsLaidOpen(file) {
  const { page, seen, close } = await open(file, { colorScheme: "dark" });
  await page.evaluate(() => window.addEventListener("beforeprint", () => {
    document.body.dataset.opened = document.querySelectorAll("details[open]").length;
  }));
  await page.pdf({ path: join(work, "story.pdf") });
  assert.equal(await page.evaluate(() => document.body.dataset.opened), "1");
  assert.equal(await page.locator("details[open]").count(), 0, "closed again behind the printer");
  await page.locator("summary").first().click();
  await page.emulateMedia({ media: "print" });
  assert.ok(!await page.locator("#filters").isVisible());
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  await page.screenshot({ path: join(work, "story-print.png"), fullPage: true });
  assertQuiet(seen);
  await close();
}

async function handoffIsRead(directory) {
  const { page, seen, close } = await open(join(directory, "index.html"), { colorScheme: "dark" });
  await page.getByRole("link").first().click();
  await page.getByRole("heading", { name: "First contradicted fact" }).waitFor();
  assert.ok((await leastContrast(page)) >= 4.5);
  await page.screenshot({ path: join(work, "handoff-dark.png"), fullPage: true });
  assert.deepEqual(seen.faults, []);
  assert.equal(seen.requests.length, 2);
  await close();
}

// The harness must notice a page that asks for something.
async function harnessCanFail(file) {
  const bad = join(work, "bad.html");
  const text = readFileSync(file, "utf8").replace(/<meta http-equiv[^>]*>/, "");
  writeFileSync(bad, text.replace("<main>", "<main><img src='absent.png' alt=''>"));
  const { seen, close } = await open(bad);
  assert.throws(() => assertQuiet(seen));
  await close();
}

try {
  const story = reportOf(join(golden, "story"), "story");
  await storyIsSeen(story, "light");
  await storyIsSeen(story, "dark");
  await keyboardReachesAll(story);
  await hostileTextStaysText(reportOf(join(golden, "hostile_ids"), "hostile"));
  await crowdIsBounded(reportOf(crowd(10000), "crowd"));
  await paperIsLaidOpen(story);
  const handoff = join(work, "handoff");
  grade(join(golden, "start_after_deny"), ["--handoff", handoff]);
  await handoffIsRead(handoff);
  await harnessCanFail(story);
  console.log("the page is seen, walked by keyboard, printed, and asks for nothing");
} finally {
  await browser.close();
}
