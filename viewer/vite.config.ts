import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vitest/config';
import { filmServer } from './fixtures/serve';

/** The libraries in the page ask for their licences to go with them. */
function licences(): string {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
  const texts = Object.entries(dependencies).map(([name, version]) => {
    return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()}`;
  });
  return `<!--\nThis page contains:\n\n${texts.join('\n\n').replace(/--/g, '- -')}\n-->`;
}

/** Puts scripts and styles into the page, so that one file shows a run anywhere, and forbids it to ask any other address for anything. */
function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    apply: 'build',
    generateBundle(_, bundle) {
      const page = bundle['index.html'];
      if (page?.type !== 'asset') throw new Error('the build made no index.html');
      let html = String(page.source);
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === 'chunk') {
          // An inline script ends at the first "</script", even in a text, and "<!--" would change how it is read.
          const code = part.code.replace(/<(\/script|!--)/gi, '\\x3c$1');
          html = html.replace(new RegExp(`<script[^>]*src="[^"]*${name}"[^>]*></script>`), '');
          html = html.replace('</body>', () => `<script type="module">${code}</script>\n  </body>`);
        } else if (name.endsWith('.css')) {
          html = html.replace(new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`), () => `<style>${String(part.source)}</style>`);
        } else continue;
        delete bundle[name];
      }
      const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; worker-src blob:";
      html = html.replace('</html>', () => `${licences()}\n</html>`);
      page.source = html.replace(
        '<meta charset="utf-8" />',
        (meta) => `${meta}\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
      );
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [oneFile(), filmServer(process.env.FILM ?? 'pile')],
  build: { target: 'es2022', assetsInlineLimit: 1e9, cssCodeSplit: false, modulePreload: false, chunkSizeWarningLimit: 3000 },
  test: { include: ['tests/**/*.test.ts', 'src/**/*.test.ts'], environment: 'node' },
});
