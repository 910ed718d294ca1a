// What only an installed app needs: the service worker, and the number on the icon.

const worker = navigator.serviceWorker;

// It fetches files of its own, so it waits until the page has its own.
addEventListener('load', () => {
    worker?.register('/sw.js').catch(() => {
        // Without it the app works, online only.
    });
});

// What is in view when the reader leaves is what they will want to read without a network.
document.addEventListener('visibilitychange', () => {
    if (document.hidden) worker?.controller?.postMessage(location.pathname);
});

if (navigator.setAppBadge) {
    const list = document.querySelector('.sidebar');
    let shown = -1;
    let due = 0;
    const count = () => {
        due = 0;
        const unread = list.querySelectorAll('.badge').length;
        if (unread === shown) return;
        shown = unread;
        (unread ? navigator.setAppBadge(unread) : navigator.clearAppBadge()).catch(() => {});
    };
    const later = () => {
        due ||= setTimeout(count, 500);
    };
    if (list) new MutationObserver(later).observe(list, { childList: true, subtree: true });
    later();
}
