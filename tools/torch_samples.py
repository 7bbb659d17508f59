"""Small networks of our own, for the files in tests/data/torch."""
import torch
from torch import nn


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 6, 5, padding=2)
        self.c2 = nn.Conv2d(6, 16, 5)
        self.f1 = nn.Linear(400, 120)
        self.f2 = nn.Linear(120, 84)
        self.f3 = nn.Linear(84, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.c1(x).relu(), 2)
        x = nn.functional.max_pool2d(self.c2(x).relu(), 2)
        return self.f3(self.f2(self.f1(x.flatten(1)).relu()).relu())


class Block(nn.Module):
    """Residual, with BatchNorm and an activation in place."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(8)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(self.bn(self.conv(x)) + x)


class Basic(nn.Module):
    """The block of ResNet-18."""

    def __init__(self, before, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = None
        if stride > 1:
            self.downsample = nn.Sequential(
                nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width)
            )

    def forward(self, x):
        y = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        return (y + (x if self.downsample is None else self.downsample(x))).relu()


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.pool = nn.MaxPool2d(3, 2, 1)
        widths = [64, 64, 128, 128, 256, 256, 512, 512]
        self.layers = nn.Sequential(
            *(
                Basic(before, width, 1 if before == width else 2)
                for before, width in zip([64] + widths, widths)
            )
        )
        self.fc = nn.Linear(512, 1000)

    def forward(self, x):
        x = self.layers(self.pool(self.bn1(self.conv1(x)).relu()))
        return self.fc(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Decoder(nn.Module):
    """One transformer layer with a causal mask; the table of words is the last layer's weight too."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(100, 32)
        self.norm = nn.LayerNorm(32)
        self.qkv = nn.Linear(32, 96)
        self.out = nn.Linear(32, 32)
        self.head = nn.Linear(32, 100, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids):
        x = self.words(ids)
        with torch.no_grad():
            q, k, v = (
                part.unflatten(-1, (4, 8)).transpose(1, 2)
                for part in self.qkv(self.norm(x)).chunk(3, -1)
            )
            heads = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.head(x + self.out(heads.transpose(1, 2).flatten(2)))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(16, 32, num_layers=2, batch_first=True)
        self.last = nn.Linear(32, 4)

    def forward(self, x):
        return self.last(self.lstm(x)[0][:, -1])


class Rare(nn.Module):
    """Operators of transformers and of audio networks that few others use."""

    def __init__(self):
        super().__init__()
        self.conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(16, 16, 3, padding=1))
        self.lstm = nn.LSTM(16, 32, proj_size=8)  # a product makes the state smaller
        self.experts = nn.Parameter(torch.randn(4, 8, 24))
        self.left = nn.Parameter(torch.randn(24, 6))
        self.right = nn.Parameter(torch.randn(6, 10))

    def forward(self, x, positions):
        starts = positions.diff(prepend=positions[:, :1] - 1) != 1
        x = self.lstm(self.conv(x).permute(2, 0, 1))[0].flatten(0, 1)
        counts = torch.histc(positions.float(), bins=4, min=0, max=3)
        x = torch._grouped_mm(x.bfloat16(), self.experts.bfloat16(), counts.cumsum(0).int())
        low_rank = torch.einsum("td,dr,rk->tk", x.float(), self.left, self.right)
        return torch.cdist(low_rank, low_rank), starts
