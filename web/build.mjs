// Bundles the page and turns its files into a C++ source, or runs its tests.
//
//   node build.mjs --out FOLDER      FOLDER/page.js and the like, and FOLDER/web_assets.cc with all of them
//   node build.mjs --tests FOLDER    bundles test/*.test.ts into FOLDER and runs them
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The licence of what is bundled must go with it. */
const licence = () => `/*\n${readFileSync(path.join(here, 'node_modules/uplot/LICENSE'), 'utf8').trim()}\n*/`;

function assetsSource(folder, names) {
  const files = names.map((name) => ({ name, bytes: readFileSync(path.join(folder, name)) }));
  for (const { name, bytes } of files) if (bytes.some((byte) => byte > 126)) throw new Error(`${name} is not ASCII`);
  const arrays = files.map(({ bytes }, at) => `constexpr char kFile${at}[] = {${[...bytes].join(',')}};`);
  const rows = files.map(
    ({ name }, at) => `    {"/${name}", "${TYPES[path.extname(name)]}", std::string_view(kFile${at}, sizeof kFile${at})},`,
  );
  return `// Made by web/build.mjs.
#include "watch/http/assets.h"

namespace ringward::watch {
namespace {

${arrays.join('\n')}
constexpr Asset kFiles[] = {
${rows.join('\n')}
};

}  // namespace

std::span<const Asset> WebAssets() { return kFiles; }

}  // namespace ringward::watch
`;
}

async function bundlePage(folder) {
  await build({
    entryPoints: { page: path.join(here, 'src/main.ts') },
    outdir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    banner: { js: licence(), css: licence() },
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'icon.svg']) writeFileSync(path.join(folder, name), readFileSync(path.join(here, name)));
  const names = ['index.html', 'page.js', 'page.css', 'icon.svg'];
  writeFileSync(path.join(folder, 'web_assets.cc'), assetsSource(folder, names));
}

async function runTests(folder) {
  const tests = readdirSync(path.join(here, 'test')).filter((name) => name.endsWith('.test.ts'));
  await build({
    entryPoints: tests.map((name) => path.join(here, 'test', name)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  });
  const made = tests.map((name) => path.join(folder, name.replace(/\.ts$/, '.mjs')));
  return spawnSync(process.execPath, ['--test', ...made], { stdio: 'inherit' }).status ?? 1;
}

const [what, folder] = process.argv.slice(2);
if (!['--out', '--tests'].includes(what) || !folder) {
  console.error('usage: node build.mjs --out FOLDER | --tests FOLDER');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
if (what === '--out') await bundlePage(path.resolve(folder));
else process.exit(await runTests(path.resolve(folder)));
